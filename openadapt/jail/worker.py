"""The jailed process: locks itself down, reports what it could still do, then answers calls on one mechanism. Standard library only.

argv: a JSON object {request, reply, leash: file descriptors; max_level, memory_mb, cpu_s, host}. Frames: 4 bytes of length, then JSON.
The host believes nothing said here: what the checks below buy is a message that names the place.
"""
import fcntl, json, marshal, os, signal, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lockdown
sys.path.pop(0)
import __future__, _strptime, abc, bisect, builtins, calendar, collections, colorsys, contextlib, copy, dataclasses, datetime, decimal    # noqa: F401
import enum, faulthandler, fractions, functools, graphlib, hashlib, heapq, inspect, itertools, linecache, math, numbers, operator       # noqa: F401
import random, re, statistics, string, textwrap, time, traceback, types, typing, unicodedata                                            # noqa: F401

MAX_REPLY, MAX_TABLE, MAX_DEPTH, MAX_PARTS = 1 << 20, 16 << 20, 16, 100_000
OFFERED = """__future__ abc bisect calendar collections colorsys contextlib copy dataclasses datetime decimal enum fractions functools graphlib
 hashlib heapq inspect itertools json math numbers operator random re statistics string textwrap time types typing unicodedata""".split()
ATTRIBUTES = ("name", "description", "submit", "fields", "remedies", "queries", "prior")
dumps = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Refused(Exception):
    "A reply that is not plain data, or too much of it."


class BadSource(Exception):
    "A source that does not compile, or holds no Mechanism."


def plain(value, what):
    "`value` as JSON data, exact types only; a refusal names the place."
    parts = 0
    def walk(x, depth, path):
        nonlocal parts
        parts += 1
        if parts > MAX_PARTS: raise Refused(f"{what} has more than {MAX_PARTS} parts")
        if depth > MAX_DEPTH: raise Refused(f"{what}{path[:200]} is nested deeper than {MAX_DEPTH}")
        kind = type(x)
        if x is None or kind in (str, bool): return x
        if kind is int:
            if x.bit_length() > 64: raise Refused(f"{what}{path[:200]} is an integer of {x.bit_length()} bits, at most 64")
            return x
        if kind is float:
            if not math.isfinite(x): raise Refused(f"{what}{path[:200]} is {x}: only finite numbers are allowed")
            return x
        if kind in (list, tuple): return [walk(y, depth + 1, f"{path}[{i}]") for i, y in enumerate(x)]
        if kind is dict:
            bad = [k for k in x if type(k) is not str]
            if bad: raise Refused(f"{what}{path[:200]} has a key of type {type(bad[0]).__name__}: keys must be strings")
            return {k: walk(y, depth + 1, f"{path}.{k[:40]}") for k, y in x.items()}
        raise Refused(f"{what}{path[:200]} is of type {kind.__name__}: only JSON data is allowed (str, int, float, bool, None, list, dict)")
    return walk(value, 0, "")


def not_offered(name): return ImportError(f"{name} cannot be imported in the sandbox; a mechanism may use: {', '.join(OFFERED)}", name=name)


def offered_import(name, globals=None, locals=None, fromlist=(), level=0):
    "What `import` does in a mechanism. It is there for a clear message; what holds is the kernel's refusal."
    if name.split(".")[0] not in OFFERED: raise not_offered(name)
    return builtins.__import__(name, globals, locals, fromlist, level)


class NoFiles:
    "The end of the search for a module: nothing is read from disk once the jail is shut."
    def find_spec(self, name, path=None, target=None): raise not_offered(name)


class Harness:
    "The calls that the host may make; each returns the text of a JSON value."
    def load(self, source):
        linecache.cache["mechanism.py"] = (len(source), None, source.splitlines(True), "mechanism.py")
        module = types.ModuleType("mechanism"); module.__file__ = "mechanism.py"; sys.modules["mechanism"] = module
        module.__builtins__ = {**vars(builtins), "__import__": offered_import}
        try: compiled = compile(source, "mechanism.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as e:
            raise BadSource(f"the source does not compile: {type(e).__name__}: {e}") from e
        exec(compiled, module.__dict__)
        cls = vars(module).get("Mechanism")
        if not isinstance(cls, type): raise BadSource("the source holds no class named Mechanism")
        self.mechanism = cls()
        spec = {k: plain(getattr(self.mechanism, k, None), f"Mechanism.{k}") for k in ATTRIBUTES}
        self.queries = spec["queries"]
        return dumps(spec)

    def scene(self, seed): return dumps(plain(self.mechanism.scene(random.Random(seed)), "scene"))
    def faults(self, scene): return dumps(plain(self.mechanism.faults(scene), "faults"))
    def brief(self, scene, fault): return dumps(plain(self.mechanism.brief(scene, fault), "brief"))
    def query(self, scene, fault, verb, args): return self.signals(self.mechanism.query(scene, fault, verb, args), verb)
    def briefs(self, scene, faults): return pooled([[self.brief(scene, f) for f in faults]])

    def table(self, scene, faults, calls):
        texts = {}                  # most replies were given before, and marshal sees that sooner than JSON is written
        def told(fault, verb, args):
            reply = self.mechanism.query(scene, fault, verb, dict(args))
            try: key = marshal.dumps(reply, 2)
            except ValueError: return self.signals(reply, verb)
            if key not in texts: texts[key] = self.signals(reply, verb)
            return texts[key]
        return pooled([told(fault, verb, args) for verb, args in calls] for fault in faults)

    def signals(self, reply, verb):
        try:
            if type(reply) in (list, tuple): return dumps(reply)
        except (TypeError, ValueError, RecursionError): pass        # the walk finds the place
        plain(reply, f"reply to {verb}")
        raise Refused(f"reply to {verb} is of type {type(reply).__name__}: expected a list of signals")


def pooled(rows) -> str:
    "Rows of texts, each distinct text written once: most readings are the same under most faults."
    pool, index, size = {}, [], 0
    for row in rows:
        index.append([])
        for text in row:
            n = pool.get(text)
            if n is None: n = pool[text] = len(pool); size += len(text)
            index[-1].append(n)
        size += 4 * len(index[-1])
        if size > MAX_TABLE: raise Refused(f"the reply exceeds {MAX_TABLE} bytes")
    return f'{{"pool":[{",".join(pool)}],"index":{dumps(index)}}}'


def cut(text, most): return text if len(text) <= most else f"{text[:most // 2]}\n... cut ...\n{text[-most // 2:]}"


def describe(e) -> dict:
    "An exception as data: its kind, its words, and the frames that belong to the mechanism."
    kind = "source" if isinstance(e, BadSource) else "output" if isinstance(e, Refused) else "exception"
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != "mechanism.py": tb = tb.tb_next
    try: message = f"{type(e).__name__}: {e}" if kind == "exception" else str(e)
    except BaseException: message = f"{type(e).__name__} (its str() fails)"
    try: trace = "".join(traceback.format_exception(type(e), e, tb, limit=-20)) if tb is not None else ""
    except BaseException as e2: trace = f"the traceback could not be made: {type(e2).__name__}"
    return {"kind": kind, "message": cut(message, 1000), "traceback": cut(trace, 4000)}


def send(text):
    frame = text.encode()
    frame = len(frame).to_bytes(4, "little") + frame
    while frame: frame = frame[os.write(4, frame):]


def serve():
    harness, pending = Harness(), b""
    while True:
        while len(pending) < 4 or len(pending) < 4 + int.from_bytes(pending[:4], "little"):
            more = os.read(3, 1 << 20)
            if not more: return
            pending += more
        end = 4 + int.from_bytes(pending[:4], "little")
        request, pending = json.loads(pending[4:end]), pending[end:]
        signal.setitimer(signal.ITIMER_REAL, request["alarm"])      # shortly before the host's limit, say where it hangs
        try:
            value = getattr(harness, request["call"])(*request["args"])
            limit = MAX_TABLE if request["call"] in ("table", "briefs") else MAX_REPLY
            if len(value) > limit: raise Refused(f"the reply to {request['call']} has {len(value)} bytes, at most {limit}")
            answer = f'{{"id":{request["id"]},"value":{value}}}'
        except BaseException as e: answer = dumps({"id": request["id"], "error": describe(e)})
        signal.setitimer(signal.ITIMER_REAL, 0)
        send(answer)


def shut(config) -> dict:
    "Put on every layer up to `max_level`, and after each try what it should stop."
    top, host, memory = config["max_level"], config["host"], config["memory_mb"]
    report = {"host": lockdown.host_view(host), "refused_layers": []}
    def layer(level, f, *args):
        if top < level: return
        try: f(*args)
        except (OSError, ValueError) as e: report["refused_layers"].append(f"{f.__name__}: {e}")
    layer(1, lockdown.drop_root); layer(1, lockdown.limits, memory, config["cpu_s"])
    report["limits"], report["files_before"] = lockdown.limit_view(memory), lockdown.file_view()
    layer(2, lockdown.no_new_privileges); layer(3, lockdown.landlock)
    report["files_after"] = lockdown.file_view()
    layer(2, lockdown.seccomp)
    report["attempts"] = lockdown.attempts(host)
    return report


def main():
    config = json.loads(sys.argv[1])
    low = [fcntl.fcntl(config[k], fcntl.F_DUPFD, 100) for k in ("request", "reply", "leash")]      # clear of the low numbers first
    for fd, high in enumerate(low, 3): os.dup2(high, fd)
    os.closerange(6, 1 << 16)
    fcntl.fcntl(5, fcntl.F_SETOWN, os.getpid())                     # when the host is gone, its end of the leash closes, and that kills us
    fcntl.fcntl(5, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(5, fcntl.F_SETFL, fcntl.fcntl(5, fcntl.F_GETFL) | os.O_ASYNC)
    os.environ.clear(); sys.argv[:] = ["mechanism"]
    faulthandler.enable(2); faulthandler.register(signal.SIGALRM, 2)
    try: raise ValueError("warm the traceback printer before files close")
    except ValueError: traceback.format_exc()
    hello = dumps(shut(config))
    sys.meta_path[:] = [NoFiles()]; sys.path[:] = []; sys.path_importer_cache.clear()
    random.seed(0)
    send(hello)
    serve()


if __name__ == "__main__":
    main()
