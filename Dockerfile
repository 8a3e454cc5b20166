# One image for both processes: the API as it stands, the worker with another command.
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM node:24.21.0-slim
# The workflow that publishes the image says what it was built of.
ARG REVISION=unknown
ARG SOURCE=
ARG VERSION=unreleased
LABEL org.opencontainers.image.title="Ohio License Verification Service" \
    org.opencontainers.image.description="Verifies Ohio licenses from the State's daily dataset, over REST and MCP" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.source="$SOURCE" \
    org.opencontainers.image.version="$VERSION"
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    STATE_DIR=/var/lib/licenses
# A new volume takes over the owner of the folder where it is mounted.
RUN mkdir "$STATE_DIR" /backups && chown node:node "$STATE_DIR" /backups
COPY --from=dependencies /app/node_modules node_modules
COPY . .
# So that `licenses publish …` is a command in the container too.
RUN chmod 755 src/cli/main.ts && ln -s /app/src/cli/main.ts /usr/local/bin/licenses
USER node
VOLUME /var/lib/licenses
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "--eval", "Promise.any([process.env.ADMIN_PORT || 9464, process.env.WORKER_ADMIN_PORT || 9465].map((port) => fetch(`http://127.0.0.1:${port}/healthz`))).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/server.ts"]
