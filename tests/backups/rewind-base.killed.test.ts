import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { BACKUP_TIMEOUT_MS, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

const ROWS = 4_000

describe.each(['files', 'PostgreSQL'])('restoring a base to a time, in %s', (home) => {
  let database: TestDatabase | null = null
  let place: Place
  afterAll(async () => {
    await place.remove()
    await database?.drop()
  })

  /** The homes of bases that there are. */
  async function homes(): Promise<string[]> {
    if (database === null) {
      const files = readdirSync(join(place.dataDir, 'bases'))
      return files.flatMap((name) => (name.endsWith('.db') ? [name.slice(0, -3)] : []))
    }
    await using sql = new Bun.SQL(database.url, { max: 1 })
    const rows = await sql`select nspname as name from pg_namespace where nspname ~ '^nc_p'`
    return rows.map(({ name }: { name: string }) => name.slice(3))
  }

  test('leaves nothing, or the whole base, if the server is killed meanwhile', async () => {
    if (home === 'PostgreSQL') database = await createDatabase('postgres')
    place = openPlace(database ? { DATABASE_URL: database.url } : {})
    let server = await place.start()
    const { trpc: first, rest, baseId, tableId, path } = await fill(server.url, ROWS)
    const { fields } = await first.schema.table.query({ tableId })
    await Bun.sleep(5)
    const at = new Date().toISOString()
    await Bun.sleep(5)
    const qty = fields.find(({ title }) => title === 'Qty')!.id
    await first.records.updateMatching.mutate({ selection: { tableId }, values: { [qty]: -1 } })
    await first.schema.updateField.mutate({ fieldId: qty, patch: { type: 'SingleLineText' } })
    expect((await rest.delete(path, { Id: 1 })).status).toBe(200)
    await first.schema.deleteTable.mutate({ tableId })
    let trpc = first
    let whole = 0
    const known = new Set(await homes())
    const listed = new Set((await trpc.bases.list.query()).map(({ id }) => id))
    for (const afterMs of [60, 250, 500, 900, 20_000]) {
      const { jobId, baseId: newId } = await trpc.backups.restoreBaseAt.mutate({ baseId, at })
      const until = performance.now() + afterMs
      while (performance.now() < until) {
        const isOver = afterMs > 10_000 && (await trpc.jobs.get.query({ jobId })).status === 'completed'
        if (isOver) break
        await Bun.sleep(10)
      }
      await server.end('SIGKILL')
      server = await place.start()
      trpc = (await enter(server.url)).trpc
      const bases = (await trpc.bases.list.query()).map(({ id }) => id)
      if (bases.includes(newId)) {
        whole++
        known.add(newId)
        listed.add(newId)
        const [table] = await trpc.schema.tables.query({ baseId: newId })
        const restored = await trpc.schema.table.query({ tableId: table!.id })
        const field = restored.fields.find(({ title }) => title === 'Qty')!
        expect(field.type).toBe('Number')
        const summaries = await trpc.records.summaries.query({
          selection: { tableId: table!.id },
          summaries: [{ fieldId: field.id, summary: 'sum' }],
        })
        expect(Number(summaries[field.id])).toBe((ROWS * (ROWS - 1)) / 2)
      }
      expect(new Set(bases)).toEqual(listed)
      expect(new Set(await homes())).toEqual(known)
      expect(await trpc.schema.tables.query({ baseId })).toEqual([])
      expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
    }
    expect(whole).toBeGreaterThan(0)
    await server.end('SIGTERM')
  })
})
