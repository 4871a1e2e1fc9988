# Sheaf as one executable on a small image:
#   docker build --tag sheaf .
#   docker run --detach --name sheaf --publish 127.0.0.1:8080:8080 --volume sheaf:/data sheaf
# docs/deploy.md has the rest.

FROM oven/bun:1.4.4 AS build
WORKDIR /source
COPY package.json bun.lock bunfig.toml ./
COPY scripts/patches ./scripts/patches
RUN bun install --frozen-lockfile
COPY . .
RUN bun run build --outfile /source/dist/sheaf

FROM debian:bookworm-slim
# Certificates of the authorities, for connections with TLS to databases, mail servers and buckets.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin sheaf \
  && mkdir --mode=700 /data \
  && chown sheaf:sheaf /data
COPY --from=build /source/dist/sheaf /usr/local/bin/sheaf
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
USER sheaf
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["sheaf", "health"]
ENTRYPOINT ["sheaf"]
