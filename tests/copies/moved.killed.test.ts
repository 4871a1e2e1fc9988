import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { ended } from '../imports/support.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

const ROWS = 3_000

describe.each(META_DATABASES)(
  'a table that is moved between bases in %s while the server is killed',
  (home) => {
    let dataDir = ''
    let database: TestDatabase | null = null
    let server: ServerProcess | null = null
    let token = ''

    afterEach(async () => {
      await server?.end('SIGKILL')
      server = null
      rmSync(dataDir, { recursive: true, force: true })
      await database?.drop()
      database = null
    })

    async function start(): Promise<void> {
      server = await startServerProcess(dataDir, database ? { DATABASE_URL: database.url } : {})
    }
    const url = () => server?.url ?? ''
    const trpc = () => createTrpcClient(url(), token)

    test('is in exactly one of them afterwards, with all its records', async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'sheaf-move-'))
      if (home === 'postgres') database = await createDatabase('postgres')
      await start()
      const visitor = createTrpcClient(url())
      ;({ token } = await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
      const baseIds = [
        (await trpc().bases.create.mutate({ title: 'One' })).id,
        (await trpc().bases.create.mutate({ title: 'Other' })).id,
      ]
      const { table } = await trpc().schema.createTable.mutate({ baseId: baseIds[0] ?? '', title: 'Moved' })
      const rows = Array.from({ length: ROWS }, (_, at) => ({ Title: `record ${at}` }))
      await createRestClient(url(), token).post(`/api/v2/tables/${table.id}/records`, rows)
      let at = 0
      let tableId = table.id
      for (const delayMs of [20, 60, 100, 140, 180, 220, 260, 300, 400, 600]) {
        const { jobId } = await trpc().copies.tableToBase.mutate({
          tableId,
          baseId: baseIds[1 - at] ?? '',
          isMove: true,
        })
        await Bun.sleep(delayMs)
        await server?.end('SIGKILL')
        await start()
        const { status } = await ended({ url: url(), token }, jobId)
        const found = await Promise.all(baseIds.map((baseId) => trpc().schema.tables.query({ baseId })))
        expect(found.map((tables) => tables.length).toSorted()).toEqual([0, 1])
        const now = found.findIndex((tables) => tables.length === 1)
        expect(now).toBe(status === 'completed' ? 1 - at : at)
        at = now
        tableId = found[now]?.[0]?.id ?? ''
        expect((await trpc().records.count.query({ selection: { tableId } })).count).toBe(ROWS)
        const copies = join(dataDir, 'copies')
        expect(existsSync(copies) ? readdirSync(copies) : []).toEqual([])
      }
    }, 120_000)
  },
)
