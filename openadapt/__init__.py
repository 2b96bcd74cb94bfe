"One prompt becomes a training loop."
from importlib.metadata import version

__version__ = version("openadapt")
