import { expect, test } from 'bun:test'
import { importNew } from '../imports/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { type Engine, openPlace } from './support.ts'

const ROWS = 20_000
const UPDATED = 2_000
/** The first attempt is killed after this time or later, up to `SPREAD_MS`: while it copies, mostly. */
const LEAST_MS = 250
const SPREAD_MS = 250
/** The second one is killed when it has copied some rows, if it is a slow one, or all of a base. Then one goes through. */
const COPIED = /\d+ rows/

const EMAIL = 'ann@example.com'

/** Numbers that differ for any other set of records, from the server's own summaries and a few of its rows. */
async function fingerprint(api: TrpcClient, tableId: string): Promise<unknown> {
  const { fields } = await api.schema.table.query({ tableId })
  const fieldIds = fields.map(({ id }) => id)
  const pages = [0, ROWS / 2, ROWS - 100].map((offset) =>
    api.records.list.query({ query: { tableId, fieldIds, limit: 100, offset } }),
  )
  const { count } = await api.records.count.query({ selection: { tableId } })
  return { count, rows: (await Promise.all(pages)).map((page) => page.rows) }
}

test('a move that is killed at random points goes on where it stopped, in both directions', async () => {
  const place = await openPlace()
  try {
    const first = await place.start('sqlite')
    const { token } = await createTrpcClient(first.url).auth.signUp.mutate({
      email: EMAIL,
      password: PASSWORD,
    })
    const api = createTrpcClient(first.url, token)
    const { id: baseId } = await api.bases.create.mutate({ title: 'Large' })
    const lines = Array.from({ length: ROWS }, (_, row) => `row ${row},${row},${row / 8}`)
    const imported = await importNew(
      { url: first.url, token },
      baseId,
      ['Name,Number,Part', ...lines].join('\n'),
      {
        title: 'Large',
        columns: [{ title: 'Name' }, { title: 'Number', type: 'Number' }, { title: 'Part', type: 'Decimal' }],
      },
    )
    const tableId = imported.tableId
    // A log with a line for each of many records.
    const { fields } = await api.schema.table.query({ tableId })
    const nameId = fields.find(({ title }) => title === 'Name')?.id ?? ''
    const rows = Array.from({ length: UPDATED }, (_, row) => ({
      id: row + 1,
      values: { [nameId]: `new ${row}` },
    }))
    await api.records.write.mutate({ change: { baseId, operations: [{ kind: 'update', tableId, rows }] } })
    let expected = await fingerprint(api, tableId)
    await first.end('SIGTERM')

    /** @param metadata the engine of the metadata after the move */
    async function moveWithKills(args: string[], metadata: Engine, refusal?: string): Promise<void> {
      let killed = 0
      for (const kill of [LEAST_MS + Math.random() * SPREAD_MS, COPIED, undefined]) {
        const { exitCode, output, wasKilled } = await place.move(args, kill)
        if (wasKilled) {
          killed++
          // Before, it may not have begun; and it may have ended since.
          if (refusal && kill === COPIED && !output.includes('every cell compared'))
            expect((await place.refusalOf(metadata)).output).toContain(refusal)
          continue
        }
        expect([exitCode, output]).toEqual([0, expect.stringMatching(/every cell compared|moved already/)])
        break
      }
      console.info(`${args.join(' ')}: killed ${killed} times`)
      expect(killed).toBeGreaterThan(0)
      const server = await place.start(metadata)
      const signIn = await createTrpcClient(server.url).auth.signIn.mutate({
        email: EMAIL,
        password: PASSWORD,
      })
      const client = createTrpcClient(server.url, signIn.token)
      expect(await fingerprint(client, tableId)).toEqual(expected)
      // The log came along, with each of its lines.
      expect((await client.records.undo.mutate({ baseId })).records).toBe(UPDATED)
      await client.records.redo.mutate({ baseId })
      expected = await fingerprint(client, tableId)
      await server.end('SIGTERM')
      expect((await place.move([...args, '--remove-source'])).exitCode).toBe(0)
    }
    await moveWithKills(['--to', 'postgres'], 'postgres')
    const base = ['--base', baseId]
    await moveWithKills(['--to', 'sqlite', ...base], 'postgres', 'bases that are being moved to SQLite files')
    await moveWithKills(['--to', 'postgres', ...base], 'postgres', 'bases that are being moved to PostgreSQL')
    await moveWithKills(['--to', 'sqlite'], 'sqlite')
  } finally {
    await place.remove()
  }
}, 180_000)
