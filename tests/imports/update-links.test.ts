import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLink, type TestEnd } from '../records/links-support.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { createLinkWorld, type LinkImport, loadLinks, linksOf as sharedLinksOf } from './link-support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

/** Updates titles and links: the file's first column is the title, which is the key. */
async function load(
  table: TestTable,
  ends: TestEnd[],
  file: string,
  update: LinkImport['update'] = {},
  preview = false,
) {
  const loaded = await loadLinks(bench, table, ends, file, { update, preview })
  const { added, changed, unchanged } = loaded.result.update!
  return { ...loaded, counts: { added, changed, unchanged } }
}

/** As `linksOf` of the support, in the order of the alphabet. */
async function linksOf(end: TestEnd, title: string): Promise<Record<string, string[]>> {
  const links = await sharedLinksOf(bench, end, title)
  return Object.fromEntries(
    Object.entries(links).map(([name, titles]) => [name, titles.map(String).toSorted()]),
  )
}

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** Books with links to the people Ann, Bob and Eve. */
async function world(
  kind: 'hm' | 'bt' | 'mm' | 'oo',
  books: string[],
  options?: { holdsKey?: boolean; required?: boolean },
) {
  const made = await createLinkWorld(bench, kind, { books, people: ['Ann', 'Bob', 'Eve'] }, options)
  return { ...made, table: made.books, links: () => linksOf(made.own, made.books.field('Title').id) }
}

describe('an import that updates records with links', () => {
  test('replaces the links of a record by those that the cell names, and counts only real changes', async () => {
    const { table, own, links } = await world('mm', ['A', 'B', 'C'])
    await load(table, [own], 't,l\nA,"Ann,Bob"\nB,Eve\n')
    expect(await links()).toEqual({ A: ['Ann', 'Bob'], B: ['Eve'], C: [] })
    const second = await load(table, [own], 't,l\nA,"Bob,Eve"\nB,Eve\nC,Ann\nD,"Ann,Eve"\n')
    expect(second.counts).toEqual({ added: 1, changed: 2, unchanged: 1 })
    const after = { A: ['Bob', 'Eve'], B: ['Eve'], C: ['Ann'], D: ['Ann', 'Eve'] }
    expect(await links()).toEqual(after)
    await undo()
    expect(await links()).toEqual({ A: ['Ann', 'Bob'], B: ['Eve'], C: [] })
    await redo()
    expect(await links()).toEqual(after)
  })

  test('leaves links where the cell is empty or names an unknown record, and clears them if asked to', async () => {
    const { table, own, links } = await world('mm', ['A', 'B'])
    await load(table, [own], 't,l\nA,"Ann,Bob"\nB,Eve\n')
    const kept = await load(table, [own], 't,l\nA,\nB,"Ann,Nobody"\n')
    expect(kept.counts).toEqual({ added: 0, changed: 0, unchanged: 2 })
    expect(kept.report).toEqual([expect.stringContaining('Nobody')])
    const cleared = await load(table, [own], 't,l\nA,\nB,"Ann,Nobody"\n', { emptyCells: 'clear' })
    expect(cleared.counts).toEqual({ added: 0, changed: 1, unchanged: 1 })
    expect(await links()).toEqual({ A: [], B: ['Eve'] })
    await undo()
    expect(await links()).toEqual({ A: ['Ann', 'Bob'], B: ['Eve'] })
  })

  test('moves children between parents, from the end of the parent', async () => {
    const { table, own, links, held } = await world('hm', ['A', 'B', 'C'])
    await load(table, [own], 't,l\nA,"Ann,Bob"\nB,Eve\n')
    const moved = await load(table, [own], 't,l\nA,"Ann,Eve"\n')
    expect(moved.counts).toEqual({ added: 0, changed: 1, unchanged: 0 })
    expect(await links()).toEqual({ A: ['Ann', 'Eve'], B: [], C: [] })
    expect(await held()).toEqual([[1], [], [1]])
    await undo()
    expect(await links()).toEqual({ A: ['Ann', 'Bob'], B: ['Eve'], C: [] })
    await redo()
    expect(await links()).toEqual({ A: ['Ann', 'Eve'], B: [], C: [] })
    const preview = await load(table, [own], 't,l\nA,"Ann,Eve"\nB,Bob\nN,Ann\n', {}, true)
    expect(preview.counts).toEqual({ added: 1, changed: 2, unchanged: 0 })
  })

  test('sets the parent of a child, and clears it if asked to', async () => {
    const { table, own, links } = await world('bt', ['A', 'B'])
    await load(table, [own], 't,l\nA,Ann\nB,Bob\n')
    const changed = await load(table, [own], 't,l\nA,Eve\nB,Bob\n')
    expect(changed.counts).toEqual({ added: 0, changed: 1, unchanged: 1 })
    await load(table, [own], 't,l\nA,\n', { emptyCells: 'clear' })
    expect(await links()).toEqual({ A: [], B: ['Bob'] })
    await undo()
    await undo()
    expect(await links()).toEqual({ A: ['Ann'], B: ['Bob'] })
  })

  for (const holdsKey of [true, false]) {
    test(`gives the only partner of a one-to-one link to another record, ${holdsKey ? 'which holds' : 'without'} the key`, async () => {
      const { table, own, links } = await world('oo', ['A', 'B'], { holdsKey })
      await load(table, [own], 't,l\nA,Ann\nB,Bob\n')
      const { counts } = await load(table, [own], 't,l\nA,Bob\nN,Eve\n')
      expect(counts).toEqual({ added: 1, changed: 1, unchanged: 0 })
      expect(await links()).toEqual({ A: ['Bob'], B: [], N: ['Eve'] })
      await undo()
      expect(await links()).toEqual({ A: ['Ann'], B: ['Bob'] })
    })
  }

  test('lets rows name each other in a link of a table to itself, known and new ones', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'A' }, { Title: 'B' }])
    const { own } = await createLink(bench, table, table, 'bt')
    const title = table.field('Title').id
    const { counts } = await load(table, [own], 't,l\nA,N\nN,B\nB,\n')
    expect(counts).toEqual({ added: 1, changed: 1, unchanged: 1 })
    expect(await linksOf(own, title)).toEqual({ A: ['N'], B: [], N: ['B'] })
    await undo()
    expect(await linksOf(own, title)).toEqual({ A: [], B: [] })
  })

  test('never unlinks a child that needs its parent', async () => {
    const { table, own, links, inverse, people } = await world('hm', ['A', 'B'])
    await load(table, [own], 't,l\nA,"Ann,Bob"\nB,Eve\n')
    await bench.trpc.schema.updateField.mutate({ fieldId: inverse.fieldId, patch: { required: true } })
    const { counts } = await load(table, [own], 't,l\nA,Ann\n')
    expect(counts).toEqual({ added: 0, changed: 0, unchanged: 1 })
    expect(await links()).toEqual({ A: ['Ann', 'Bob'], B: ['Eve'] })
    expect(people.id).toBeString()
  })

  test('logs the change of a link, which webhooks that watch the field see', async () => {
    const { table, own } = await world('mm', ['A', 'B'])
    await load(table, [own], 't,l\nA,"Ann,Bob"\nB,Ann\n')
    const { result } = await load(table, [own], 't,l\nA,"Bob,Eve"\nB,Ann\n')
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const rows = await engine.all<{ after: string }>({
      sql: `select after from sheaf_change_records where change_id = ${result.changeId} and table_id = '${table.id}'`,
      params: [],
    })
    expect(rows.map(({ after }) => JSON.parse(after)[own.fieldId])).toEqual([
      JSON.stringify({ linked: [3], unlinked: [1] }),
    ])
  })
})
