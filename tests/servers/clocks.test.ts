import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { ended, resultOf, startImport } from '../imports/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase } from '../support/servers.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000
/** Of both servers, in opposite directions: more than the lease of a mail, less than the life of what it offers. */
const SHIFT_MS = 15 * MINUTE
const CLOCK = join(import.meta.dir, '../support/shifted-clock.ts')

let database: Awaited<ReturnType<typeof createDatabase>>
let smtp: SmtpRecorder
let [behind, ahead]: ServerProcess[] = []
let owner: string
const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-clocks-'))

/** A server on the common database whose clock differs from the database's. */
const start = (shiftMs: number) =>
  startServerProcess(dataDir, {
    DATABASE_URL: database.url,
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(smtp.config.smtpPort),
    SMTP_FROM: 'sheaf@example.com',
    PUBLIC_URL: 'https://sheaf.example.com',
    BUN_OPTIONS: `--preload=${CLOCK}`,
    CLOCK_SHIFT_MS: String(shiftMs),
  })

beforeAll(async () => {
  ;[database, smtp] = await Promise.all([createDatabase('postgres'), startSmtpServer()])
  behind = await start(-SHIFT_MS)
  ahead = await start(SHIFT_MS)
  for (const email of ['owner@example.com', 'other@example.com']) {
    const { token } = await createTrpcClient(behind.url).auth.signUp.mutate({ email, password: PASSWORD })
    owner ??= token
  }
})

afterAll(async () => {
  await Promise.all([behind, ahead].map((server) => server?.end('SIGTERM')))
  await Promise.all([database.drop(), smtp.go()])
  rmSync(dataDir, { recursive: true, force: true })
})

describe('servers whose clocks differ by half an hour', () => {
  const servers = () => [behind, ahead].filter((server) => server !== undefined)
  const apis = () => servers().map(({ url }) => createTrpcClient(url, owner))

  test('send each mail once, although the mail server is slow', async () => {
    const [first, second] = apis()
    const { promise, resolve } = Promise.withResolvers<void>()
    smtp.accepting = promise
    await first?.auth.forgotPassword.mutate({ email: 'owner@example.com' })
    await until(() => smtp.arrived === 1, 'The first mail')
    // Makes the other server look for mails that are due.
    await second?.auth.forgotPassword.mutate({ email: 'other@example.com' })
    await until(() => smtp.arrived === 2, 'The second mail')
    resolve()
    await smtp.waitFor(2)
    // A mail that is sent a second time comes before those that are due later.
    await Bun.sleep(500)
    const recipients = smtp.mails.map((mail) => mail.recipients[0])
    expect(recipients.toSorted()).toEqual(['other@example.com', 'owner@example.com'])
  })

  test('give inserted and imported records and formulas the time of the database', async () => {
    const { api, baseId, tableId } = await createTable()
    await api.schema.createField.mutate({
      tableId,
      field: { title: 'Now', type: 'Formula', options: { formula: 'NOW()' } },
    })
    const times: string[] = []
    for (const { url } of servers()) {
      const rest = createRestClient(url, owner)
      await rest.post(`/api/v2/tables/${tableId}/records`, { Title: 'inserted' })
      const columns = [{ title: 'Title' }]
      const job = await startImport({ url, token: owner }, baseId, 'Title\nimported', {
        columns,
        title: `From ${times.length}`,
      })
      const imported = resultOf(await ended({ url, token: owner }, job)).tableId
      const field = { title: 'Created', type: 'CreatedTime' as const }
      await api.schema.createField.mutate({ tableId: imported, field })
      for (const id of [tableId, imported]) {
        const { body } = await rest.get(`/api/v2/tables/${id}/records`)
        for (const { Created, Now = Created } of body.list) times.push(Created, Now)
      }
    }
    expect(times).toHaveLength(10)
    const minutes = times.map((time) => Math.abs(Date.parse(time) - Date.now()) / MINUTE)
    expect(Math.max(...minutes)).toBeLessThan(5)
  })

  test('agree on when a public link ends', async () => {
    const { viewId } = await createTable()
    const expiresAt = new Date(Date.now() + 10 * MINUTE).toISOString()
    for (const { url } of servers()) {
      const target = { kind: 'view' as const, targetId: viewId }
      const { id } = await createTrpcClient(url, owner).shares.save.mutate({
        ...target,
        patch: { expiresAt },
      })
      for (const { url: each } of servers()) {
        expect(await createTrpcClient(each).shares.open.query({ kind: 'view', id })).toBeObject()
      }
    }
  })

  async function createTable() {
    const [api] = apis()
    if (api === undefined) throw new Error('No server')
    const { id: baseId } = await api.bases.create.mutate({ title: 'Times' })
    const { table, views } = await api.schema.createTable.mutate({
      baseId,
      title: 'Tasks',
      fields: [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Created', type: 'CreatedTime' },
      ],
    })
    return { api, baseId, tableId: table.id, viewId: views[0]?.id ?? '' }
  }
})
