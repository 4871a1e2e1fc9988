import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { until } from '../support/until.ts'

/** Records of the slow table: a formula over all of them takes minutes. */
const ROWS = 60_000
/** Large enough a file that reads of it run in processes, which can be ended. */
const FILLER = 'x'.repeat(700)
/** As many as keep every slot of one user taken, and more. */
const SCANS = 6
/** As many downloads as one link has at a time. */
const DOWNLOADS = 3

describe('a caller who disconnects in the middle of a scan', () => {
  let app: TestApp
  let ann: TestUser
  let baseId: string
  let slow: string
  let small: string
  let heavyId: string
  let shareId: string
  let viewId: string

  beforeAll(async () => {
    app = await createTestApp({ database: 'sqlite' })
    ann = await app.signUp()
    const trpc = app.trpc(ann.token)
    baseId = (await trpc.bases.create.mutate({ title: 'Slow' })).id
    const text = { type: 'SingleLineText' as const }
    const made = await trpc.schema.createTable.mutate({
      baseId,
      title: 'Slow',
      fields: [
        { title: 'Title', ...text },
        { title: 'Note', type: 'LongText' },
      ],
    })
    slow = made.table.id
    small = (
      await trpc.schema.createTable.mutate({ baseId, title: 'Small', fields: [{ title: 'Title', ...text }] })
    ).table.id
    const formula = 'LEN(REPLACE(REPEAT({Title}, 50000), "a", "b"))'
    heavyId = (
      await trpc.schema.createField.mutate({
        tableId: slow,
        field: { title: 'Heavy', type: 'Formula', options: { formula } },
      })
    ).id
    await app.rest(ann.token).post(`/api/v2/tables/${slow}/records`, { Title: 'ab', Note: FILLER })
    await app.rest(ann.token).post(`/api/v2/tables/${small}/records`, { Title: 'small' })
    copyFirst(made.table.tableName)
    const views = await app.rest(ann.token).get(`/api/v2/meta/tables/${slow}/views`)
    viewId = views.body.list[0].id
    const share = await app.rest(ann.token).post(`/api/v2/meta/views/${viewId}/share`)
    shareId = share.body.uuid
  })
  afterAll(() => app.stop())

  function copyFirst(tableName: string): void {
    const [path] = [...new Bun.Glob(`**/*${baseId}*.db`).scanSync(app.config.dataDir)]
    const file = new Database(`${app.config.dataDir}/${path}`)
    file.run('pragma busy_timeout = 5000')
    const columns = file
      .query<{ name: string }, []>(`pragma table_info("${tableName}")`)
      .all()
      .flatMap(({ name }) => (name === 'id' ? [] : `"${name}"`))
      .join(', ')
    file.run(`insert into "${tableName}" (id, ${columns})
      with recursive ids(n) as (select 2 union all select n + 1 from ids where n < ${ROWS})
      select n, ${columns} from "${tableName}" join ids on id = 1`)
    file.close()
  }

  type Start = (signal: AbortSignal) => Promise<unknown>

  const get =
    (path: () => string, headers: () => Record<string, string>): Start =>
    async (signal) => {
      const answer = await fetch(`${app.url}${path()}`, { headers: headers(), signal })
      await answer.arrayBuffer()
      return answer.status
    }
  const mine = () => ({ 'xc-auth': ann.token })
  const where = 'where=(Heavy,eq,1)'
  const list = () => `/api/v2/tables/${slow}/records`
  const v1 = () => `/api/v1/db/data/noco/${baseId}/${slow}`
  const shared = () => `/api/v2/public/shared-view/${shareId}`
  const trpc = () => app.trpc(ann.token).records
  const heavy = () => ({ fieldId: heavyId, operator: 'eq', value: 1 })

  const READS: Record<string, Start> = {
    'a page over REST': get(() => `${list()}?${where}`, mine),
    'a sorted page over REST': get(() => `${list()}?sort=Heavy`, mine),
    'a count over REST': get(() => `${list()}/count?${where}`, mine),
    'groups over REST': get(() => `${v1()}/groupby?column_name=Heavy`, mine),
    'an export over REST': get(() => `${v1()}/export/csv?${where}`, mine),
    'a page of a shared view': get(
      () => `${shared()}/rows?${where}`,
      () => ({}),
    ),
    'groups of a shared view': get(
      () => `${shared()}/groupby?column_name=Heavy`,
      () => ({}),
    ),
    'a count of a shared view': get(
      () => `${shared()}/count?${where}`,
      () => ({}),
    ),
    'an export of a shared view': get(
      () => `${shared()}/rows/export/csv?${where}`,
      () => ({}),
    ),
    'a page over tRPC': (signal) =>
      trpc().list.query({ query: { tableId: slow, filter: heavy(), limit: 10, offset: 0 } }, { signal }),
    'a search over tRPC': (signal) =>
      trpc().count.query(
        { selection: { tableId: slow, search: { text: 'zzz', fieldId: heavyId } } },
        { signal },
      ),
    'groups over tRPC': (signal) =>
      trpc().groups.query(
        {
          request: {
            selection: { tableId: slow },
            groups: [{ fieldId: heavyId, direction: 'asc' }],
            limit: 10,
            offset: 0,
          },
        },
        { signal },
      ),
    'a sum over tRPC': (signal) =>
      trpc().summaries.query(
        { selection: { tableId: slow }, summaries: [{ fieldId: heavyId, summary: 'sum' }] },
        { signal },
      ),
  }

  test.each(Object.keys(READS))('gives its slot back: %s', async (name) => {
    const start = READS[name] as Start
    const length = name === 'an export of a shared view' ? DOWNLOADS : SCANS
    const clients = Array.from({ length }, () => new AbortController())
    let answered: unknown = null
    const scans = clients.map(({ signal }) =>
      start(signal).then(
        (answer) => {
          answered ??= answer
        },
        (error) => {
          if (!signal.aborted) answered ??= error
        },
      ),
    )
    await Bun.sleep(400)
    // It is still at it: what follows waits for slots that were given back.
    expect(answered).toBeNull()
    for (const client of clients) client.abort()
    await Promise.all(scans)
    // The same account, and the same link: whoever left holds no slot of theirs.
    const startedAt = performance.now()
    const own = app.rest(ann.token)
    expect(
      (await own.get(`/api/v2/tables/${small}/records?where=(Title,like,small)`)).body.list,
    ).toHaveLength(1)
    expect((await own.get(`${list()}?where=(Note,eq,nothing)`)).body.list).toEqual([])
    expect((await app.rest().get(`${shared()}/rows?where=(Note,eq,nothing)`)).body.list).toEqual([])
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })

  test(`a link has ${DOWNLOADS} downloads at a time, and another once one has ended`, async () => {
    const clients = Array.from({ length: DOWNLOADS }, () => new AbortController())
    const download = (signal?: AbortSignal) =>
      fetch(`${app.url}${shared()}/rows/export/csv?${where}`, { signal })
    const running = await Promise.all(clients.map(({ signal }) => download(signal)))
    expect(running.map(({ status }) => status)).toEqual([200, 200, 200])
    const refused = await download()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.text()).toContain('Too many downloads by this link')
    // Members are not concerned.
    const own = await fetch(`${app.url}/api/v1/db/data/noco/${baseId}/${small}/export/csv`, {
      headers: mine(),
    })
    expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('small')])
    clients[0]?.abort()
    const again = new AbortController()
    let status = 429
    await until(async () => {
      status = (await download(again.signal)).status
      return status !== 429
    }, 'The end of a download')
    expect(status).toBe(200)
    for (const client of [...clients, again]) client.abort()
  })
})
