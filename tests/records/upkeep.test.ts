import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { planCombinations } from '../../modules/records/read/groups/combinations.ts'
import { listGroups } from '../../modules/records/read/groups/list-groups.ts'
import { createLogFollower } from '../../modules/records/read/log-follower.ts'
import { countRecords, type Opened, planPage } from '../../modules/records/read/plan.ts'
import { createPlanCache } from '../../modules/records/read/plan-cache.ts'
import {
  type CachedEngine,
  createResultCache,
  type ResultCache,
} from '../../modules/records/read/result-cache.ts'
import { summarize } from '../../modules/records/read/summaries.ts'
import { countUpkeep, maintained, pageUpkeep } from '../../modules/records/read/upkeep.ts'
import { summarySetOf } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type Condition, checkFilter, type Filter, OPERATORS, setOf } from '../../src/core/filters/index.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import { lastChangeId } from '../../src/db/change-log/entry.ts'
import { removeEntries } from '../../src/db/change-log/removal.ts'
import { pick, seeded } from '../core/random.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { createFilterTable, type FilterTable, randomCondition } from './filter-table.ts'
import { type Bench, createBench } from './support.ts'

/** Reads of each kind. */
const READS = 10
const WRITES = 15

/** Opens a table as its owner, with an engine that tells what it runs. */
async function openWatched(bench: Bench, tableId: string, ran: (sql: string) => void): Promise<Opened> {
  const { id, email } = bench.owner
  const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
  const real: Opened = await bench.app.services.records.open(actor, tableId)
  const watch = (name: 'all' | 'values') => ({
    value: (...args: Parameters<typeof real.engine.all>) => {
      ran(args[0].sql)
      return (real.engine[name] as (...given: typeof args) => unknown)(...args)
    },
  })
  const engine = Object.create(real.engine, { all: watch('all'), values: watch('values') })
  return { ...real, engine, context: { ...real.context, plans: createPlanCache() } }
}

/** A read through a cache, or on the engine itself. */
type Read = (engine: CachedEngine) => Promise<unknown>

describe('a cached result after a change', () => {
  let bench: Bench
  let world: FilterTable
  let opened: Opened
  let random: () => number
  let contributed = 0
  let readAgain = 0

  beforeAll(async () => {
    bench = await createBench()
    world = await createFilterTable(bench, { Edited: 'LastModifiedTime', Editor: 'LastModifiedBy' })
    opened = await openWatched(bench, world.table.id, (text) => {
      if (text.startsWith('with "~changed"')) contributed++
      else if (text.startsWith('select read_.*')) readAgain++
    })
  })
  afterAll(() => bench.stop())

  const byId = (id: string) => opened.model.field(id)

  function randomFilter(depth = 1): Filter {
    if (depth > 0 && random() < 0.4) {
      const children = [randomFilter(depth - 1), randomFilter(depth - 1)]
      return { join: pick(random, ['and', 'or'] as const), not: random() < 0.3, children }
    }
    for (;;) {
      const field = pick(random, world.fields)
      const operator = pick(random, OPERATORS)
      if (!operator.accepts.includes(setOf(field))) continue
      const condition: Condition = randomCondition(random, field, operator, bench.owner)
      if (checkFilter(condition, byId).length === 0) return condition
    }
  }

  const randomSummaries = () =>
    Array.from({ length: 3 }, () => {
      const field = pick(random, world.fields)
      const summaries = summariesFor(summarySetOf(field))
      return summaries.length === 0 ? [] : [{ fieldId: field.id, summary: pick(random, summaries).key }]
    }).flat()

  /** A read of each kind, with a filter of its own or none. */
  function randomReads(): Read[] {
    const { context } = opened
    const { dialect } = opened.engine
    const filter = random() < 0.7 ? randomFilter() : null
    const selection = { filter }
    const fields = [pick(random, world.fields), pick(random, world.fields)]
    const direction = () => pick(random, ['asc', 'desc'] as const)
    const count = dialect.render(countRecords(context, selection).query)
    const counted = maintained(count, () => countUpkeep(context, selection))
    const { page, query } = planPage(context, {
      filter: filter ?? randomFilter(),
      sorts: [{ fieldId: fields[0]!.id, direction: direction() }],
      fields: world.fields,
      shape: { kind: 'rows', links: 'first' },
      limit: 25,
      offset: 0,
    })
    const paged = maintained(page, () => pageUpkeep(context, query, page))
    const distinct = [...new Set(fields)]
    const combined = planCombinations(context, {
      fields: distinct,
      filter,
      sorts: [],
      limit: pick(random, [5, 1000]),
      offset: 0,
    }).page
    const request = {
      selection: { tableId: world.table.id, filter },
      groups: distinct.map(({ id: fieldId }) => ({ fieldId, direction: direction() })),
      summaries: randomSummaries(),
      limit: pick(random, [3, 500]),
      offset: 0,
    }
    const summarized = [...randomSummaries(), ...randomSummaries()]
    return [
      (engine) => engine.all(counted),
      (engine) => engine.values(paged),
      (engine) => engine.all(combined),
      (engine) => listGroups({ engine, context }, request),
      (engine) => summarize(engine, context, selection, summarized),
    ]
  }

  const value = (title: string): CellValue => pick(random, STORED_VALUES[title as keyof typeof EVERY_TYPE])
  const someTitles = () => Object.keys(EVERY_TYPE).filter(() => random() < 0.3)
  const valuesOf = (titles: string[]) => Object.fromEntries(titles.map((title) => [title, value(title)]))

  const deleted: number[] = []
  /** Writes that an undo may revert: not the first records. */
  let undoable = 0

  async function sent(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
    const { status, body } = await answer
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    undoable++
  }

  /** Writes at random; most are edits of a few records. */
  async function write(): Promise<void> {
    const { rest, trpc, baseId } = bench
    const { path, id: tableId } = world.table
    const { ids } = await trpc.records.list.query({
      query: { tableId, fieldIds: [], limit: 1000, offset: 0 },
    })
    const id = () => Number(pick(random, ids))
    const kind = random()
    if (kind < 0.2) return sent(rest.post(path, valuesOf(Object.keys(EVERY_TYPE))))
    if (kind < 0.35) {
      const gone = [...new Set([id(), id()])]
      deleted.push(...gone)
      return sent(
        rest.delete(
          path,
          gone.map((Id) => ({ Id })),
        ),
      )
    }
    if (kind < 0.4) {
      if (undoable === 0) return
      undoable--
      const action = await trpc.records.nextAction.query({ baseId, direction: 'undo', tableId })
      await trpc.records.undo.mutate({ baseId, entryId: action!.id })
      return
    }
    if (kind < 0.44) {
      const filter = { fieldId: world.table.field('Rat').id, operator: 'eq', value: 3 }
      const values = world.table.values({ Cb: pick(random, [true, false]) })
      await trpc.records.updateMatching.mutate({ selection: { tableId, filter }, values } as never)
      undoable++
      return
    }
    if (kind < 0.52) {
      const gone = deleted.pop()
      // An undo may have restored it.
      if (gone === undefined || ids.includes(gone)) return
      const { restored } = await trpc.records.restoreTrashed
        .mutate({ tableId, recordIds: [gone] })
        .catch((error) => {
          // It may have taken back the insertion as well: then the record is nowhere.
          if (error.data?.appCode !== 'RECORD_NOT_FOUND') throw error
          return { restored: 0 }
        })
      undoable += restored
      return
    }
    const count = kind < 0.9 ? 1 : 12
    const rows = Array.from({ length: count }, () => ({ Id: id(), ...valuesOf(someTitles()) }))
    return sent(rest.patch(path, [...new Map(rows.map((row) => [row.Id, row])).values()]))
  }

  /** Runs reads through a cache between writes, and compares them with reads of the table. */
  async function compare(cache: ResultCache, hear: () => void): Promise<void> {
    const reads = Array.from({ length: READS }, randomReads).flat()
    const cached = cache.over(opened)
    for (let time = 0; time < 3; time++) for (const read of reads) await read(cached)
    contributed = readAgain = 0
    const differences: unknown[] = []
    for (let time = 0; time < WRITES; time++) {
      for (let writes = pick(random, [1, 1, 1, 3]); writes > 0; writes--) await write()
      hear()
      for (const [at, read] of reads.entries()) {
        // The real engine is not watched.
        const [kept, fresh] = [await read(cached), await read(Object.getPrototypeOf(opened.engine))]
        if (!Bun.deepEquals(kept, fresh)) differences.push({ time, kind: at % 5, at, kept, fresh })
      }
    }
    expect(differences.slice(0, 3)).toEqual([])
    // Most are brought up to date without reading the table.
    expect(contributed).toBeGreaterThan(readAgain)
  }

  test('is what the table has, on this server', async () => {
    random = seeded(11)
    const cache = createResultCache(null, 0)
    await compare(cache, () => cache.touch([{ tableId: world.table.id, fieldIds: null, added: 0 }]))
  })

  test('is read again where old entries of the log were removed since', async () => {
    random = seeded(13)
    const cache = createResultCache(null, 0)
    const { context } = opened
    const selection = { filter: { fieldId: world.table.field('Num').id, operator: 'eq', value: 77 } }
    const query = opened.engine.dialect.render(countRecords(context, selection).query)
    const counted = maintained(query, () => countUpkeep(context, selection))
    const count = () => cache.over(opened).all<{ count: number }>(counted)
    for (let time = 0; time < 3; time++) expect(await count()).toEqual([{ count: 0 }])
    for (let time = 1; time <= 3; time++) {
      await sent(bench.rest.post(world.table.path, { Num: 77 }))
      cache.touch([{ tableId: world.table.id, fieldIds: null, added: 1 }])
      // The second one is removed before the next read.
      if (time === 2) continue
      if (time === 3) await removeEntries(opened.engine, (await lastChangeId(opened.engine)) - 1)
      expect(await count()).toEqual([{ count: time }])
    }
  })

  test('keeps a sum without values empty when a record without a value comes', async () => {
    const cache = createResultCache(null, 0)
    const fieldId = world.table.field('Num').id
    const filter = { fieldId: world.table.field('Title').id, operator: 'eq', value: 'without a number' }
    const sum = async () => {
      const summaries = [{ fieldId, summary: 'sum' }]
      return (await summarize(cache.over(opened), opened.context, { filter }, summaries))[fieldId]
    }
    for (let time = 0; time < 3; time++) expect(await sum()).toBeNull()
    await sent(bench.rest.post(world.table.path, { Title: 'without a number' }))
    cache.touch([{ tableId: world.table.id, fieldIds: null, added: 1 }])
    expect(await sum()).toBeNull()
  })

  test('has the average of whole numbers and the first and last day, without reading the table again', async () => {
    const table = await bench.table(
      { Num: 'Number', Day: 'Date', At: 'DateTime' },
      [3, 5, null, 10].map((Num, at) => ({
        Num,
        Day: `2024-02-1${at}`,
        At: `2024-02-1${at} 10:00:00+00:00`,
      })),
    )
    let reads = 0
    const watched = await openWatched(bench, table.id, (text) => {
      if (text.startsWith('select read_.*')) reads++
    })
    const cache = createResultCache(null, 0)
    const wanted = (
      [
        ['Num', 'avg'],
        ['Day', 'earliest'],
        ['At', 'latest'],
      ] as const
    ).map(([title, summary]) => ({ fieldId: table.field(title).id, summary }))
    const selection = { filter: { fieldId: table.field('Num').id, operator: 'notblank', value: null } }
    const read = async (engine: CachedEngine = cache.over(watched)) =>
      Object.values(await summarize(engine, watched.context, selection, wanted))
    const written = async (change: Promise<{ status: number }>) => {
      expect((await change).status).toBe(200)
      cache.touch([{ tableId: table.id, fieldIds: null, added: 0 }])
      const [kept, fresh] = [await read(), await read(Object.getPrototypeOf(watched.engine))]
      expect(kept).toEqual(fresh)
      return kept
    }
    for (let time = 0; time < 3; time++) expect((await read())[0]).toBe(6)
    const before = reads
    const { rest } = bench
    const later = { Num: 8, Day: '2024-01-31', At: '2024-03-01 09:00:00.5+00:00' }
    const [average, first, last] = await written(rest.post(table.path, later))
    expect([average, first, String(last).slice(0, 10)]).toEqual([6.5, '2024-01-31', '2024-03-01'])
    expect((await written(rest.patch(table.path, { Id: 1, Num: 4 })))[0]).toBe(6.75)
    expect((await written(rest.patch(table.path, { Id: 3, Num: 13, Day: '2024-05-05' })))[0]).toBe(8)
    expect(reads).toBe(before)
    // The earliest day is gone.
    await written(rest.patch(table.path, { Id: 5, Day: '2024-04-04' }))
    expect(reads).toBe(before + 1)
  })

  test('has the exact sum of amounts, without reading the table again', async () => {
    const table = await bench.table(
      { Price: 'Decimal' },
      [0.1, 0.2, null, 12_345_678.9].map((Price) => ({ Price })),
    )
    let reads = 0
    const watched = await openWatched(bench, table.id, (text) => {
      if (text.startsWith('select read_.*')) reads++
    })
    const cache = createResultCache(null, 0)
    const fieldId = table.field('Price').id
    const selection = { filter: { fieldId, operator: 'notblank', value: null } }
    const read = async (engine: CachedEngine = cache.over(watched)) => {
      const wanted = [{ fieldId, summary: 'sum' }]
      return (await summarize(engine, watched.context, selection, wanted))[fieldId]
    }
    const written = async (change: Promise<{ status: number }>) => {
      expect((await change).status).toBe(200)
      cache.touch([{ tableId: table.id, fieldIds: null, added: 0 }])
      const [kept, fresh] = [await read(), await read(Object.getPrototypeOf(watched.engine))]
      expect(kept).toEqual(fresh)
      return kept
    }
    for (let time = 0; time < 3; time++) expect(await read()).toBe(12_345_679.2)
    const before = reads
    const { rest } = bench
    expect(await written(rest.post(table.path, { Price: 0.05 }))).toBe(12_345_679.25)
    expect(await written(rest.patch(table.path, { Id: 2, Price: -0.7 }))).toBe(12_345_678.35)
    expect(await written(rest.patch(table.path, { Id: 4, Price: null }))).toBe(-0.55)
    expect(await written(rest.delete(table.path, { Id: 2 }))).toBe(0.15)
    expect(reads).toBe(before)
    // More digits than a sum is trusted with: read again from then on.
    expect(await written(rest.patch(table.path, { Id: 1, Price: 0.123456789012345 }))).toBe(0.173456789012345)
    await written(rest.patch(table.path, { Id: 1, Price: 0.25 }))
    expect(reads).toBe(before + 1)
  })

  test('is what the table has, with other servers', async () => {
    random = seeded(12)
    await compare(createResultCache(createLogFollower(), 0), () => {})
  })
})
