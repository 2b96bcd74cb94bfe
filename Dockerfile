# CPU image.  docker build -t openadapt . && docker run --rm -v openadapt-runs:/app/artifacts/runs openadapt run "Train an agent to ..."
FROM python:3.11-slim
RUN useradd --create-home --uid 1000 agent
WORKDIR /app
COPY constraints.txt settings.ini setup.py pyproject.toml MANIFEST.in README.md CHANGELOG.md LICENSE ./
# the dependencies first, so that a change of code does not fetch them again
RUN pip install --no-cache-dir --no-deps --extra-index-url https://download.pytorch.org/whl/cpu -c constraints.txt torch \
    && mkdir openadapt && touch openadapt/__init__.py && pip install --no-cache-dir -c constraints.txt -e . && rm -r openadapt
COPY . .
RUN mkdir -p artifacts/runs && chown -R agent /app
USER agent
ENTRYPOINT ["openadapt"]
CMD ["run", "Train an agent to diagnose degraded production services"]
