import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { gridTests, OpenTable } from './grid-page.ts'

/** Days named by a field that writes them as 05/03/2024, views over them, and a table that links to them. */
export async function createLink(tests: ReturnType<typeof gridTests>) {
  const api = tests.app().trpc(tests.owner().token)
  const options = { format: 'DD/MM/YYYY' }
  const rows: CellValue[][] = [
    ['2024-03-05', 'a'],
    ['2024-03-06', 'b'],
  ]
  const table = await tests.createTable(
    [
      { title: 'Day', type: 'Date', options },
      { title: 'Note', type: 'SingleLineText' },
    ],
    rows,
  )
  const dayId = table.schema.fields.find(({ title }) => title === 'Day')?.id ?? ''
  const { tableId, baseId } = table
  const filter = { fieldId: dayId, operator: 'eq', operand: 'exactDate' as const, value: '2024-03-05' }
  const make = (title: string, kind: 'grid' | 'gallery' | 'calendar', more: object = {}) =>
    api.views.create.mutate({ tableId, title, kind, ...more })
  const grid = await make('Filtered', 'grid')
  await api.views.update.mutate({ viewId: grid.id, patch: { filter: { join: 'and', children: [filter] } } })
  const gallery = await make('Cards', 'gallery')
  const ranges = [{ fromFieldId: dayId, toFieldId: null }]
  const calendar = await make('Plan', 'calendar', { options: { ranges } })

  const schema = await api.schema.createTable.mutate({
    baseId,
    title: 'Visits',
    fields: [{ title: 'Name', type: 'SingleLineText' }],
  })
  const chips: OpenTable = { schema, baseId, tableId: schema.table.id }
  const link = await api.schema.createField.mutate({
    tableId: chips.tableId,
    field: { title: 'When', type: 'Links', options: { kind: 'mm', relatedTableId: tableId } },
  })
  const nameId = schema.fields.find(({ title }) => title === 'Name')?.id ?? ''
  await api.records.write.mutate({
    change: {
      baseId,
      operations: [
        { kind: 'insert', tableId: chips.tableId, rows: [{ values: { [nameId]: 'x', [link.id]: '[1]' } }] },
      ],
    },
  })
  return {
    table,
    chips,
    day: '2024-03-05',
    views: { grid: grid.id, gallery: gallery.id, calendar: calendar.id },
  }
}
