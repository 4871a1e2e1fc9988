import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import { buildWebIfStale } from '../../scripts/build-web.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createRestClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { findBinary } from '../support/find-binary.ts'
import { findFreePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'sheaf-proxy-'))
chmodSync(folder, 0o755)
const example = (name: string): string =>
  readFileSync(join(import.meta.dir, '../../docs/deploy', name), 'utf8')

let app: TestApp
let owner: TestUser
let proxy: Bun.Subprocess | null = null

beforeAll(async () => {
  await buildWebIfStale()
  app = await createTestApp()
  owner = await app.signUp()
})
afterEach(async () => {
  proxy?.kill('SIGTERM')
  await proxy?.exited
  proxy = null
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The examples with a port instead of a host name and its certificate, and this server behind them. */
const PROXIES: Record<string, (port: number) => string[]> = {
  nginx(port) {
    const site = example('nginx.conf')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
      .replace(/^ *ssl_.*$/gm, '')
      .replace('http://127.0.0.1:8080', app.url)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const path = join(folder, 'nginx.conf')
    writeFileSync(
      path,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths.join('\n')}\n${site}}\n`,
    )
    return ['nginx', '-c', path, '-p', folder]
  },
  caddy(port) {
    const site = example('Caddyfile')
      .replace('sheaf.example.com', `http://127.0.0.1:${port}`)
      .replace('127.0.0.1:8080', app.url.replace('http://', ''))
    const path = join(folder, 'Caddyfile')
    writeFileSync(path, `{\n\tadmin off\n}\n${site}`)
    return ['caddy', 'run', '--config', path, '--adapter', 'caddyfile']
  },
}

describe.each(Object.keys(PROXIES))('the example for %s', (name) => {
  const program = findBinary(name)
  if (program === null) console.warn(`${name} is not installed: its example is not tested`)

  test.skipIf(program === null)('passes live connections, large uploads and exports', async () => {
    const { id: baseId } = await createBase(app, owner)
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId,
      title: 'Exported',
      fields: [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Note', type: 'LongText' },
      ],
    })
    const port = await findFreePort()
    const [, ...args] = PROXIES[name]!(port)
    proxy = Bun.spawn([program ?? name, ...args], {
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const url = `http://127.0.0.1:${port}`
    await until(
      () =>
        fetch(`${url}/api/v1/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      `${name} answers`,
    )
    const socket = io(url, { auth: { token: owner.token }, transports: ['websocket'], reconnection: false })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve())
      socket.once('connect_error', reject)
    })
    socket.close()

    const form = new FormData()
    form.append('file', new File([new Uint8Array(15 * 1024 * 1024)], 'large.bin'))
    const upload = await fetch(`${url}/api/v2/storage/upload?path=noco/x/y/z`, {
      method: 'POST',
      headers: { 'xc-auth': owner.token },
      body: form,
    })
    expect(upload.status).toBe(200)
    const [stored] = (await upload.json()) as { size: number }[]
    expect(stored?.size).toBe(15 * 1024 * 1024)

    const headers = { 'xc-auth': owner.token }
    const rows = Array.from({ length: 500 }, () => ({ Title: 'row', Note: 'x'.repeat(10_000) }))
    const written = await createRestClient(url, headers).post(`/api/v2/tables/${table.id}/records`, rows)
    expect(written.status).toBe(200)
    const path = `/api/v1/db/data/noco/${baseId}/${table.id}/export/csv`
    const exported = await fetch(`${url}${path}`, { headers })
    const lines = (await exported.text()).trim().split('\n')
    expect([exported.status, lines.length]).toEqual([200, rows.length + 1])
    expect(lines.slice(1).every((line) => line.includes(rows[0]!.Note))).toBe(true)
    const page = await fetch(url)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')])
  })
})
