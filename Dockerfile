# The command and the library on Debian: `docker build -t cleave .`, then
# `docker run --rm -v "$PWD:/data" cleave ncut points.csv -k 3`. BASE is another image of Debian or Ubuntu.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY scripts/deps scripts/deps
RUN apt-get update && scripts/deps --build
COPY . .
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr/local && \
    cmake --build build && cmake --install build

FROM ${BASE}
RUN apt-get update && \
    apt-get install -y --no-install-recommends libopenblas0-pthread liblapacke libarpack2 libpng16-16 libjpeg62-turbo \
        zlib1g libjansson4 libgomp1 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
RUN ldconfig
WORKDIR /data
ENTRYPOINT ["cleave"]
CMD ["--help"]
