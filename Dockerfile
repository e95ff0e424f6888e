# One image for both processes. By default it runs the API; the worker is `node dist/apps/worker/main.js`.
# See docs/deploy.md for how to run it.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY apps apps
COPY libs libs
COPY scripts/bundle.mjs scripts/
RUN npm run build

# Only what the processes import: the optional packages are those of the PostgreSQL of `npm start`.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-slim
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="The front door of a message queue for developer platforms" \
      org.opencontainers.image.licenses="MIT"
# NODE_OPTIONS: see docs/performance.md, "Experiments".
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=64
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
EXPOSE 3000 9464
# Liveness, not readiness: some orchestrators replace unhealthy containers.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "dist/apps/cli/health.js", "live"]
CMD ["node", "dist/apps/api/main.js"]
