# syntax=docker/dockerfile:1
#
#   docker build -t mtbias .
#   docker run --rm mtbias eval --model demo --lang de
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" mtbias eval --model opus-mt --lang de --out runs/opus-de
#
# For a GPU build with PyPI's PyTorch: --build-arg TORCH_INDEX=https://pypi.org/simple
# The test is the demo, as in `make demo-toy`: docker build --target test .

FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt hatchling && hatchling build --target wheel

FROM python:3.11-slim AS runtime
# pip prefers this index's PyTorch (a local version, +cpu) to PyPI's, which has gigabytes of CUDA libraries.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN --mount=type=bind,from=build,source=/src,target=/src \
    pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" --constraint /src/constraints.txt /src/dist/*.whl
RUN useradd --create-home --uid 1000 mtbias && install --directory --owner mtbias /data
# Downloads stay in the mounted folder, whoever runs the container.
ENV MTBIAS_CACHE=/data/.cache/mtbias HF_HOME=/data/.cache/huggingface
USER mtbias
WORKDIR /data
ENTRYPOINT ["mtbias"]
CMD ["--help"]

FROM runtime AS test
RUN mtbias eval --model demo --lang de --out /tmp/demo-de

FROM runtime
