import { expect, test } from 'bun:test'
import { SERVERS_TIMEOUT_MS, startThreeServers } from './support.ts'

/** So many that counting them with a filter takes longer than what is cached at the least. */
const ROWS = 100_000

test(
  'a count and groups that several servers cache are never older than the request',
  async () => {
    const world = await startThreeServers()
    await using sql = new Bun.SQL(world.database.url, { max: 1 })
    try {
      const [a, b, c] = world.servers
      const { id: baseId } = await world.trpc(a).bases.create.mutate({ title: 'Counts' })
      const { table, fields } = await world.trpc(a).schema.createTable.mutate({ baseId, title: 'Rows' })
      const fieldId = fields.find(({ title }) => title === 'Title')?.id ?? ''
      const schema = `nc_${baseId}`
      await sql.unsafe(
        `insert into ${schema}."${table.tableName}" ("Title", nc_order)
        select 'row ' || (n % 10), n from generate_series(1, ${ROWS}) n`,
      )
      const selection = { tableId: table.id, filter: { fieldId, operator: 'like', value: 'row' } } as never
      const count = async (server = b) => (await world.trpc(server).records.count.query({ selection })).count
      const groups = async (server = b) => {
        const request = {
          selection,
          groups: [{ fieldId, direction: 'asc' as const }],
          summaries: [],
          limit: 100,
          offset: 0,
        }
        return (await world.trpc(server).records.groups.query({ request })).groups.length
      }
      const all = () => Promise.all([count(b), count(c), groups(b), groups(c)])
      const expected: Awaited<ReturnType<typeof all>> = [ROWS, ROWS, 10, 10]
      // On a busy machine, a server may have lost its connection to the others since, and reads again.
      let seen: typeof expected | null = null
      for (let attempt = 0; attempt < 5 && seen === null; attempt++) {
        for (let time = 0; time < 4; time++) expect(await all()).toEqual(expected)
        // Nobody can read the table now: the answers come from memory.
        const answers = await sql.begin(async (tx) => {
          await tx.unsafe(`lock table ${schema}."${table.tableName}" in access exclusive mode`)
          const asked = all()
          return { asked, inTime: await Promise.race([asked, Bun.sleep(3_000).then(() => null)]) }
        })
        expect(await answers.asked).toEqual(expected)
        seen = answers.inTime
      }
      expect(seen).toEqual(expected)

      for (let time = 1; time <= 10; time++) {
        const path = `/api/v2/tables/${table.id}/records`
        expect((await world.rest(a).post(path, { Title: `row new ${time}` })).status).toBe(200)
        expect(await Promise.all([count(b), count(c)])).toEqual([ROWS + time, ROWS + time])
        expect(await Promise.all([groups(b), groups(c)])).toEqual([10 + time, 10 + time])
      }
    } finally {
      await world.stop()
    }
  },
  SERVERS_TIMEOUT_MS,
)
