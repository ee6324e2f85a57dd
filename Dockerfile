# Two stages: the second has Node and what `npm run build` made, and no packages, because dist/ includes them
# (docs/decisions/0016). docs/operating.md says how to run it. test/tools/build.test.ts does the same without Docker.
FROM node:22-slim AS build
WORKDIR /app
# These first, so that packages are installed again only after one of them has changed.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# The archive has what runs. The link is the name of the command: `payments`.
RUN npm run build && tar -xzf payments-service-*.tgz && ln -s payments.js package/bin/payments

FROM node:22-slim
WORKDIR /app
COPY --from=build /app/package ./
ENV NODE_ENV=production
ENV ENVIRONMENT=production
# Those outside of the container reach the port only if it is published.
ENV HOST=0.0.0.0
ENV PORT=8080
ENV PATH=/app/bin:$PATH
# The user `node` of the image, as numbers, because Kubernetes cannot tell from a name that it is not root. All files belong to
# root, so that this user cannot change them.
USER 1000:1000
EXPOSE 8080
# The image has no curl. /healthz does not ask the database: a new container would not mend it. Callers can use up the connections
# of PORT, but not those of METRICS_PORT, which is asked unless it listens at one other address only.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { PORT, METRICS_PORT, METRICS_HOST = '' } = process.env; const isHere = ['', '127.0.0.1', '0.0.0.0'].includes(METRICS_HOST); fetch(`http://127.0.0.1:${(isHere && Number(METRICS_PORT)) || PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not by npm, which does not forward signals.
CMD ["node", "dist/server/main.js"]
