import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TRPCClientError } from '@trpc/client'
import { randomOf } from './links-world.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

/** `UNDO_SEED=7 UNDO_STEPS=2000 bun run test …` walks another way, or further. */
const SEEDS = process.env.UNDO_SEED ? [Number(process.env.UNDO_SEED)] : [1]
const STEPS = Number(process.env.UNDO_STEPS ?? 60)

/** Records that are compared. */
const COMPARED = 8
/** From 1,000 records on, changes are undone as sets. */
const FILLED = 1_000
const TITLES = ['a', 'b', 'c', 'd', 'e', 'f, g', "h'i"]

type Choice = { id?: string; title: string }

/** What a step came to: the code of a refusal. */
type Outcome = string | null

describe.each(SEEDS)('changes of few and of many records, seed %d', (seed) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  test(`are undone, redone and restored alike, over ${STEPS} steps`, async () => {
    const random = randomOf(seed)
    const below = (count: number) => Math.floor(random() * count)
    const pick = <T>(items: readonly T[]): T => items[below(items.length)]!
    const { baseId, trpc, rest } = bench
    const choices = (titles: string[]) => ({ choices: titles.map((title) => ({ title })) })
    const tables: TestTable[] = []
    for (const count of [COMPARED, COMPARED + FILLED]) {
      const rows = Array.from({ length: count }, (_, at) => ({
        Title: `r${at}`,
        Status: TITLES[at % 3],
        Tags: at % 2 ? 'a,b' : 'c',
        Num: at,
      }))
      tables.push(
        await bench.table(
          {
            Title: 'SingleLineText',
            Status: { type: 'SingleSelect', options: choices(TITLES.slice(0, 4)) },
            Tags: { type: 'MultiSelect', options: choices(['a', 'b', 'c', 'd']) },
            Num: 'Number',
          },
          rows,
        ),
      )
    }
    /** The entries of both tables, by step. */
    const entries: number[][] = []
    const latestOf = async ({ id: tableId }: TestTable) =>
      (await trpc.records.actions.query({ baseId, tableId, limit: 1 })).actions[0]?.id ?? 0
    const fieldOf = async (table: TestTable, title: string) => {
      const { fields } = await trpc.schema.table.query({ tableId: table.id })
      return fields.find((field) => field.title === title)!
    }
    const optionsOf = async (table: TestTable, title: string) =>
      ((await fieldOf(table, title)).options as { choices?: Choice[] }).choices ?? []
    const shown = async (table: TestTable) => ({
      rows: (await table.list(`?limit=${COMPARED}&where=(Id,lte,${COMPARED})&sort=Id`)).map(
        ({ Title, Status, Tags, Num }) => [Title, Status, Tags, Num],
      ),
      options: [await optionsOf(table, 'Status'), await optionsOf(table, 'Tags')].map((list) =>
        list.map(({ title }) => title),
      ),
      type: (await fieldOf(table, 'Num')).type,
    })
    const changeChoices =
      (title: string, change: (list: Choice[]) => Choice[]) => async (table: TestTable) => {
        const field = await fieldOf(table, title)
        const patch = { options: { choices: change(await optionsOf(table, title)) } }
        await trpc.schema.updateField.mutate({ fieldId: field.id, patch: patch as never })
      }

    function nextStep(): { name: string; run(table: TestTable, at: number): Promise<unknown> } {
      const kind = below(13)
      const select = pick(['Status', 'Tags'])
      const [one, other] = [pick(TITLES), pick(TITLES)]
      const many =
        select === 'Tags' ? [...new Set([one, other])].filter((t) => !t.includes(',')).join(',') : one
      const entry = pick(entries.length > 0 ? entries : [[0, 0]])
      const recordId = 1 + below(COMPARED)
      switch (kind) {
        case 0:
        case 1: {
          const isNumber = random() < 0.3
          const number = below(5)
          return {
            name: isNumber ? `set all Num ${number}` : `set all ${select} ${many}`,
            run: async (table) => {
              const field = await fieldOf(table, isNumber ? 'Num' : select)
              const value = isNumber ? (field.type === 'Number' ? number : String(number)) : many || null
              await trpc.records.updateMatching.mutate({
                selection: { tableId: table.id },
                values: { [field.id]: value },
              })
            },
          }
        }
        case 2:
        case 3:
          return {
            name: `set ${recordId} ${select} ${many}`,
            run: async (table) => {
              const { status, body } = await rest.patch(table.path, { Id: recordId, [select]: many || null })
              if (status !== 200) throw new Error(body.error ?? String(status))
            },
          }
        case 4: {
          const swapped = new Map([
            [one, other],
            [other, one],
          ])
          return {
            name: `swap ${select} ${one} ${other}`,
            run: changeChoices(select, (list) =>
              list.map((each) => ({ ...each, title: swapped.get(each.title) ?? each.title })),
            ),
          }
        }
        case 5:
          return {
            name: `remove ${select} ${one}`,
            run: changeChoices(select, (list) => list.filter(({ title }) => title !== one)),
          }
        case 6:
          return {
            name: `add ${select} ${one}`,
            run: changeChoices(select, (list) =>
              list.some(({ title }) => title === one) ? list : [...list, { title: one }],
            ),
          }
        case 7:
          return {
            name: 'delete all',
            run: (table) => trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
          }
        case 8:
          return {
            name: `undo ${entry}`,
            run: (_, at) => trpc.records.undo.mutate({ baseId, entryId: entry[at] ?? 0 }),
          }
        case 9:
          return {
            name: `redo ${entry}`,
            run: (_, at) => trpc.records.redo.mutate({ baseId, entryId: entry[at] ?? 0 }),
          }
        case 10:
          return {
            name: `restore deletion ${entry}`,
            run: (table, at) =>
              trpc.records.restoreTrashed.mutate({ tableId: table.id, changeId: entry[at] ?? 0 }),
          }
        case 11:
          return {
            name: `restore table before ${entry}`,
            run: (table, at) =>
              trpc.records.restoreTable.mutate({ tableId: table.id, before: entry[at] ?? 0, keep: [] }),
          }
        default:
          return {
            name: 'convert Num',
            run: async (table) => {
              const field = await fieldOf(table, 'Num')
              const type = field.type === 'Number' ? 'SingleLineText' : 'Number'
              await trpc.schema.updateField.mutate({ fieldId: field.id, patch: { type } })
            },
          }
      }
    }

    const taken: string[] = []
    for (let step = 0; step < STEPS; step++) {
      const { name, run } = nextStep()
      taken.push(name)
      const where = `seed ${seed}, step ${step}: ${name}`
      const outcomes: Outcome[] = []
      const before = await Promise.all(tables.map(latestOf))
      for (const [at, table] of tables.entries())
        outcomes.push(
          await run(table, at).then(
            () => null,
            (error: Error) => {
              const code = error instanceof TRPCClientError ? String(error.data?.code) : error.message
              if (code === 'INTERNAL_SERVER_ERROR' || code === 'undefined')
                throw new Error(where, { cause: error })
              return code
            },
          ),
        )
      const after = await Promise.all(tables.map(latestOf))
      if (after.every((id, at) => id !== before[at])) entries.push(after)
      const [few, many] = await Promise.all(tables.map(shown))
      if (process.env.UNDO_TRACE) console.log(where, outcomes[0], JSON.stringify(few))
      expect([where, outcomes[1], many]).toEqual([where, outcomes[0], few] as never)
      const [status, tags] = few!.options
      for (const [, one, list] of few!.rows) {
        if (one !== null) expect([where, status]).toEqual([where, expect.arrayContaining([one])])
        for (const title of list ? String(list).split(',') : [])
          expect([where, tags]).toEqual([where, expect.arrayContaining([title])])
      }
    }
  }, 600_000)
})
