import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresConnection } from '../../src/db/connection.ts'
import { schemaOfBase } from '../../src/db/postgres/base-schema.ts'
import { connectPostgres } from '../../src/db/postgres/driver.ts'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { ended } from '../imports/support.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

const ROWS = 3_000
const LINKS = 100
const DELAYS_MS = [20, 90, 160, 240, 330, 500]

describe.each(META_DATABASES)(
  'linked tables that are moved between bases in %s while the server is killed',
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

    const connectTo = (baseId: string, { url }: TestDatabase) =>
      connectPostgres(postgresConnection(url), {
        searchPath: `"${schemaOfBase(baseId)}"`,
        statementTimeoutMs: 0,
      })

    /** The first column of a statement in the home of a base. */
    async function valuesIn(baseId: string, sql: string): Promise<unknown[]> {
      if (!database) {
        const file = new Database(join(dataDir, 'bases', `${baseId}.db`), { readonly: true })
        try {
          return file.prepare(sql).values().flat()
        } finally {
          file.close()
        }
      }
      const client = connectTo(baseId, database)
      try {
        return (await client.unsafe(sql).values()).flat()
      } finally {
        await client.end()
      }
    }

    /** What a move has left in the log, and staging tables. */
    async function leftIn(baseId: string, newIds: readonly string[]): Promise<unknown[]> {
      const ids = newIds.map((id) => `'${id}'`).join(', ')
      const names = database
        ? 'select tablename::text from pg_tables where schemaname = current_schema()'
        : 'select name from sqlite_schema'
      return [
        ...(await valuesIn(baseId, names)).filter((name) => String(name).startsWith('sheaf_import')),
        ...(await valuesIn(
          baseId,
          `select id from sheaf_changes where table_id in (${ids}) and undone_by = -2`,
        )),
        ...(await valuesIn(baseId, `select change_id from sheaf_change_records where table_id in (${ids})`)),
        ...(await valuesIn(baseId, `select record_id from sheaf_places where table_id in (${ids})`)),
      ]
    }

    /** Changes the last record of a table until the server is killed or the table has moved. */
    function writeTo(tableId: string) {
      const rest = createRestClient(url(), token)
      let last = ''
      let acknowledged: string | null = null
      const write = async () => {
        try {
          for (let n = 1; ; n++) {
            last = `${tableId} ${n}`
            const { status } = await rest.patch(`/api/v2/tables/${tableId}/records`, {
              Id: ROWS,
              Title: last,
            })
            if (status !== 200) return
            acknowledged = last
          }
        } catch {
          // The server was killed.
        }
      }
      const written = write()
      return {
        tried: () => last,
        async stop(): Promise<string | null> {
          await written
          return acknowledged
        },
      }
    }

    test('are all in exactly one of them afterwards, with their records, links and history', async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'sheaf-move-'))
      if (home === 'postgres') database = await createDatabase('postgres')
      await start()
      const visitor = createTrpcClient(url())
      ;({ token } = await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
      const baseIds = [
        (await trpc().bases.create.mutate({ title: 'One' })).id,
        (await trpc().bases.create.mutate({ title: 'Other' })).id,
      ]
      const [parents, children] = await Promise.all(
        ['Parents', 'Children'].map((title) =>
          trpc().schema.createTable.mutate({ baseId: baseIds[0] ?? '', title }),
        ),
      )
      const ids = [parents?.table.id ?? '', children?.table.id ?? '']
      const rest = createRestClient(url(), token)
      await rest.post(`/api/v2/tables/${ids[0]}/records`, [{ Title: 'parent' }, { Title: 'other' }])
      const { id: linkId } = await trpc().schema.createField.mutate({
        tableId: ids[0] ?? '',
        field: { title: 'Children', type: 'Links', options: { kind: 'hm', relatedTableId: ids[1] } },
      })
      const rows = Array.from({ length: ROWS }, (_, at) => ({ Title: `record ${at}` }))
      await rest.post(`/api/v2/tables/${ids[1]}/records`, rows)
      await trpc().records.write.mutate({
        change: {
          baseId: baseIds[0] ?? '',
          operations: [
            {
              kind: 'link',
              tableId: ids[0] ?? '',
              fieldId: linkId,
              id: 1,
              targets: Array.from({ length: LINKS }, (_, at) => at + 1),
            },
          ],
        },
      })
      let at = 0
      let tableIds = ids
      for (const delayMs of DELAYS_MS) {
        const [tableId = '', ...furtherTableIds] = tableIds
        const { jobId, tables } = await trpc().copies.tableToBase.mutate({
          tableId,
          furtherTableIds,
          baseId: baseIds[1 - at] ?? '',
          isMove: true,
        })
        // Somebody writes all the time, so that the move follows.
        const { tried, stop } = writeTo(tableIds[1] ?? '')
        await Bun.sleep(delayMs)
        await server?.end('SIGKILL')
        const acknowledged = await stop()
        await start()
        const { status } = await ended({ url: url(), token }, jobId)
        const found = await Promise.all(baseIds.map((baseId) => trpc().schema.tables.query({ baseId })))
        expect(found.map((tables) => tables.length).toSorted()).toEqual([0, 2])
        const now = found.findIndex((tables) => tables.length === 2)
        expect(now).toBe(status === 'completed' ? 1 - at : at)
        const newIds = tables.map(({ newId }) => newId)
        if (status !== 'completed') expect(await leftIn(baseIds[1 - at] ?? '', newIds)).toEqual([])
        at = now
        tableIds = ['Parents', 'Children'].map(
          (title) => found[now]?.find((table) => table.title === title)?.id ?? '',
        )
        const [parentId = '', childId = ''] = tableIds
        expect((await trpc().records.count.query({ selection: { tableId: childId } })).count).toBe(ROWS)
        const { body } = await createRestClient(url(), token).get(`/api/v2/tables/${parentId}/records/1`)
        expect(body.Children).toBe(LINKS)
        const { entries } = await trpc().records.history.query({ tableId: parentId, recordId: 1 })
        expect(entries).toHaveLength(2)
        const child = await createRestClient(url(), token).get(`/api/v2/tables/${childId}/records/${ROWS}`)
        // The last write may have been committed without an answer.
        if (acknowledged !== null) expect([acknowledged, tried()]).toContain(child.body.Title)
      }
    })

    // Only PostgreSQL goes on with an index of a client that is gone.
    if (home === 'postgres')
      test('leave nothing behind where the database builds an index at that moment', async () => {
        dataDir = mkdtempSync(join(tmpdir(), 'sheaf-move-'))
        database = await createDatabase('postgres')
        await start()
        const visitor = createTrpcClient(url())
        ;({ token } = await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
        const one = await trpc().bases.create.mutate({ title: 'One' })
        const other = await trpc().bases.create.mutate({ title: 'Other' })
        const { table } = await trpc().schema.createTable.mutate({ baseId: one.id, title: 'Rows' })
        const rows = Array.from({ length: ROWS }, (_, at) => ({ Title: `record ${at}` }))
        await createRestClient(url(), token).post(`/api/v2/tables/${table.id}/records`, rows)
        const view = await trpc().views.create.mutate({ tableId: table.id, title: 'Board', kind: 'kanban' })
        const place = { kind: 'move' as const, tableId: table.id, ids: [9], before: 1, viewId: view.id }
        await trpc().records.write.mutate({ change: { baseId: one.id, operations: [place] } })
        await trpc().comments.create.mutate({ tableId: table.id, recordId: 1, text: 'Here' })

        // Statistics of the server do not change within a transaction.
        const [client, watching] = [connectTo(other.id, database), connectTo(other.id, database)]
        const indexing = async () =>
          (
            await watching`select pid from pg_stat_activity
            where query ilike 'create%index%sheaf_import%' and state = 'active' and pid <> pg_backend_pid()`
          ).length
        /** Runs `work` while the staging table of a move can be filled, and not be indexed. */
        const whileIndexing = (work: () => Promise<void>) =>
          client.begin(async (tx) => {
            let staging: string | undefined
            while (staging === undefined) {
              const found = await tx`select tablename::text as name from pg_tables
                where schemaname = current_schema() and tablename like 'sheaf\\_import%'`
              staging = found[0]?.name
            }
            await tx.unsafe(`lock table "${staging}" in row exclusive mode`)
            while ((await indexing()) === 0) await Bun.sleep(5)
            await work()
          })
        try {
          await client`select 1`
          // Waits before the move begins, which may be quick.
          const killed = whileIndexing(async () => {
            await server?.end('SIGKILL')
            // The database goes on by itself.
            expect(await indexing()).toBe(1)
          })
          const { jobId, tableId } = await trpc().copies.tableToBase.mutate({
            tableId: table.id,
            baseId: other.id,
            isMove: true,
          })
          await killed
          await start()
          expect((await ended({ url: url(), token }, jobId)).status).toBe('failed')
          expect(await leftIn(other.id, [tableId])).toEqual([])
          expect(await indexing()).toBe(0)
          const tablesOf = async (baseId: string) =>
            (await trpc().schema.tables.query({ baseId })).map(({ id }) => id)
          expect([await tablesOf(one.id), await tablesOf(other.id)]).toEqual([[table.id], []])

          // The same move once more gets the same names of indexes.
          const again = await trpc().copies.tableToBase.mutate({
            tableId: table.id,
            baseId: other.id,
            isMove: true,
          })
          expect(await ended({ url: url(), token }, again.jobId)).toMatchObject({ status: 'completed' })
          const { comments } = await trpc().comments.list.query({ tableId: again.tableId, recordId: 1 })
          expect(comments.map(({ text }) => text)).toEqual(['Here'])
          const [places] = await valuesIn(
            other.id,
            `select count(*)::int from sheaf_places where table_id = '${again.tableId}'`,
          )
          expect(places).toBe(1)
        } finally {
          await client.end()
          await watching.end()
        }
      })
  },
)
