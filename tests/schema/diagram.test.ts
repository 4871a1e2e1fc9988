import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Diagram } from '../../src/core/diagram.ts'
import { boxHeight, layoutBoxes, lineBetween } from '../../web/features/erd/layout.ts'
import { DEFAULT_OPTIONS, MAX_ROWS, shownDiagram } from '../../web/features/erd/shown-diagram.ts'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'

let bench: Bench
let diagram: Diagram
let [tasks, people, projects, alone]: TestTable[] = []
beforeAll(async () => {
  bench = await createBench()
  ;[tasks, people, projects, alone] = await Promise.all([0, 1, 2, 3].map(() => bench.table()))
  const link = (from: TestTable | undefined, to: TestTable | undefined, kind: string) =>
    bench.trpc.schema.createField.mutate({
      tableId: from?.id ?? '',
      field: { title: `${kind} link`, type: 'Links', options: { kind, relatedTableId: to?.id } },
    })
  await link(tasks, people, 'mm')
  await link(projects, tasks, 'hm')
  await link(tasks, tasks, 'hm')
  diagram = await bench.trpc.schema.diagram.query({ baseId: bench.baseId })
})
afterAll(() => bench.stop())

test('a diagram has every table, and each link once, with how many stand at either end', () => {
  const ours = diagram.tables.filter(({ isJunction }) => !isJunction)
  expect(ours.map(({ id }) => id).toSorted()).toEqual(
    [tasks, people, projects, alone].map((table) => table?.id ?? '').toSorted(),
  )
  expect(diagram.tables.filter(({ isJunction }) => isJunction)).toHaveLength(1)
  const ends = diagram.links.map(({ fromTableId, fromMany, toTableId, toMany }) =>
    [`${fromTableId} ${fromMany}`, `${toTableId} ${toMany}`].toSorted().join(' – '),
  )
  const line = (...sides: string[]) => sides.toSorted().join(' – ')
  expect(ends.toSorted()).toEqual(
    [
      line(`${tasks?.id} true`, `${people?.id} true`),
      line(`${projects?.id} false`, `${tasks?.id} true`),
      line(`${tasks?.id} false`, `${tasks?.id} true`),
    ].toSorted(),
  )
  // The product's own fields stay out.
  expect(JSON.stringify(diagram)).not.toContain('nc_order')
})

test('it is drawn without tables of pairs, with them, or for one table', () => {
  const plain = shownDiagram(diagram, DEFAULT_OPTIONS)
  expect([plain.tables.length, plain.links.length]).toEqual([4, 3])
  const whole = shownDiagram(diagram, { ...DEFAULT_OPTIONS, showJunctions: true })
  expect([whole.tables.length, whole.links.length]).toEqual([5, 4])
  const one = shownDiagram(diagram, { ...DEFAULT_OPTIONS, tableId: people?.id ?? '' })
  expect(one.tables.map(({ id }) => id).toSorted()).toEqual([people?.id ?? '', tasks?.id ?? ''].toSorted())
  expect(one.links).toHaveLength(1)
  const keys = shownDiagram(diagram, { ...DEFAULT_OPTIONS, fields: 'keys' })
  expect(keys.tables.every(({ fields }) => fields.length >= 2)).toBe(true)
  expect(
    shownDiagram(diagram, { ...DEFAULT_OPTIONS, fields: 'none' }).tables.every(
      ({ fields }) => fields.length === 0,
    ),
  ).toBe(true)
})

test('a box of many fields lists its keys and the first others, and all of them once it is unfolded', () => {
  const [table] = diagram.tables
  if (!table) throw new Error('there is no table')
  const more = Array.from({ length: 200 }, (_, n) => ({
    id: `more${n}`,
    title: `More ${n}`,
    type: 'Text',
    isPrimaryKey: false,
    isForeignKey: n === 150,
    isDisplay: false,
  }))
  const wide = { ...diagram, tables: [{ ...table, fields: [...table.fields, ...more] }] }
  const [folded] = shownDiagram(wide, DEFAULT_OPTIONS).tables
  expect(folded?.fields).toHaveLength(MAX_ROWS)
  expect(folded?.folded).toHaveLength(wide.tables[0]!.fields.length - MAX_ROWS)
  expect(folded?.fields.some(({ id }) => id === 'more150')).toBe(true)
  const [whole] = shownDiagram(wide, { ...DEFAULT_OPTIONS, unfolded: [table.id] }).tables
  expect([whole?.fields.length, whole?.folded]).toEqual([wide.tables[0]!.fields.length, []])
  expect(boxHeight(whole!)).toBeGreaterThan(5 * boxHeight(folded!))
})

test('no two boxes lie on each other, and each line has its two ends', () => {
  const shown = shownDiagram(diagram, { ...DEFAULT_OPTIONS, showJunctions: true })
  const places = layoutBoxes(shown)
  expect(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(5)
  for (const link of shown.links) {
    const line = lineBetween(link, (id) => {
      const [table, place] = [shown.tables.find((one) => one.id === id), places.get(id)]
      return table && place && { table, place }
    })
    expect(line?.ends).toHaveLength(2)
    expect(line?.path).not.toContain('NaN')
  }
})

test('strangers do not see it', async () => {
  const stranger = await bench.app.signUp('stranger@example.com')
  const refused = bench.app.trpc(stranger.token).schema.diagram.query({ baseId: bench.baseId })
  expect((await refusalOf(refused)).status).toBe(403)
})
