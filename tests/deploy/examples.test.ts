import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { createTestApp } from '../support/app.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The part of Traefik's dynamic configuration that the example uses; a misspelled key is refused. */
const TraefikExample = z.strictObject({
  http: z.strictObject({
    routers: z.record(
      z.string(),
      z.strictObject({
        rule: z.string().regex(/^Host\(`[a-z.]+`\)$/),
        entryPoints: z.array(z.string()).min(1),
        middlewares: z.array(z.string()).optional(),
        service: z.string(),
        tls: z.strictObject({ certResolver: z.string() }),
      }),
    ),
    middlewares: z.record(z.string(), z.unknown()).optional(),
    services: z.record(
      z.string(),
      z.strictObject({
        loadBalancer: z.strictObject({
          servers: z.array(z.strictObject({ url: z.url() })).min(1),
          healthCheck: z.strictObject({ path: z.string(), interval: z.string(), timeout: z.string() }),
        }),
      }),
    ),
  }),
})

/** The part of a compose file that the example uses. */
const ComposeExample = z.strictObject({
  services: z.record(
    z.string(),
    z.strictObject({
      build: z.string().optional(),
      image: z.string().optional(),
      restart: z.literal('unless-stopped'),
      depends_on: z
        .record(z.string(), z.strictObject({ condition: z.literal('service_healthy') }))
        .optional(),
      ports: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()),
      volumes: z.array(z.string()),
      healthcheck: z
        .strictObject({
          test: z.array(z.string()),
          interval: z.string(),
          timeout: z.string(),
          retries: z.int(),
        })
        .optional(),
      shm_size: z.string().optional(),
      stop_grace_period: z.string().optional(),
      read_only: z.boolean().optional(),
      tmpfs: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
      cap_drop: z.array(z.string()).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
})

// Debian has no Traefik and containers cannot run everywhere, so these examples are checked without their programs.
test('the example for Traefik routes to services that it defines, and asks a path that says when the server is ready', async () => {
  const { http } = TraefikExample.parse(Bun.YAML.parse(read('docs/deploy/traefik.yaml')))
  for (const { service, middlewares = [], entryPoints } of Object.values(http.routers)) {
    expect(Object.keys(http.services)).toContain(service)
    for (const name of middlewares) expect(Object.keys(http.middlewares ?? {})).toContain(name)
    // The static configuration in the comment is about the same entry point.
    for (const name of entryPoints) expect(read('docs/deploy/traefik.yaml')).toContain(`entryPoints.${name}.`)
  }
  const app = await createTestApp()
  try {
    for (const { loadBalancer } of Object.values(http.services)) {
      const { status } = await fetch(`${app.url}${loadBalancer.healthCheck.path}`)
      expect(status).toBe(200)
    }
  } finally {
    await app.stop()
  }
})

test('the compose file connects to its own PostgreSQL, waits for it, and keeps the data in volumes', () => {
  const { services, volumes } = ComposeExample.parse(Bun.YAML.parse(read('docs/deploy/compose.yaml')))
  for (const { depends_on = {}, volumes: mounts } of Object.values(services)) {
    for (const name of Object.keys(depends_on)) expect(services[name]?.healthcheck).toBeDefined()
    for (const mount of mounts) expect(Object.keys(volumes)).toContain(mount.split(':')[0] ?? '')
  }
  const { sheaf, postgres } = services
  const database = new URL((sheaf?.environment.DATABASE_URL ?? '').replace(/\$\{[^}]*\}/, 'secret'))
  expect(services[database.hostname]).toBe(postgres)
  expect(database.username).toBe(postgres?.environment.POSTGRES_USER ?? '')
  expect(database.pathname).toBe(`/${postgres?.environment.POSTGRES_DB}`)
  // The image's folder for data and its port.
  const image = read('Dockerfile')
  const [, data = ''] = /DATA_DIR=(\S+)/.exec(image) ?? []
  expect(sheaf?.volumes.map((mount) => mount.split(':')[1])).toEqual([data])
  const [, exposed = ''] = /^EXPOSE (\d+)$/m.exec(image) ?? []
  expect(sheaf?.ports?.map((port) => port.split(':').at(-1))).toEqual([exposed])
})

test('the systemd unit starts also where the check complains, and never gives up', () => {
  const unit = read('docs/deploy/sheaf.service')
  const values = new Map(
    unit.split('\n').flatMap((line): [string, string][] => {
      const at = line.indexOf('=')
      return line.startsWith('#') || at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
  expect(values.get('ExecStartPre')).toBe(`-${values.get('ExecStart')} check`)
  expect([values.get('Restart'), values.get('StartLimitIntervalSec')]).toEqual(['on-failure', '0'])
  // The limit of starts belongs to the unit: systemd ignores it among the service's settings.
  expect(unit.indexOf('StartLimitIntervalSec')).toBeLessThan(unit.indexOf('[Service]'))
  expect(values.get('Environment')).toBe(`DATA_DIR=/var/lib/${values.get('StateDirectory')}`)
})
