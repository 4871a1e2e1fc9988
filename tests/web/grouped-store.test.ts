import { expect, test } from 'bun:test'
import type { GroupPage } from '../../src/core/query.ts'
import { groupAt } from '../../web/grid/groups/tree.ts'
import { createGroupedLayout, type GroupedLayout } from '../../web/records/layouts/groups.ts'
import { memoryField } from './memory-records.ts'
import { open, pause } from './open-store.ts'

test('an unfinished new record of a group stays in it when others change the list', async () => {
  const fields = [
    memoryField('title', 'SingleLineText', { required: true }),
    memoryField('team'),
    memoryField('stock', 'Number'),
  ]
  const of = (team: string, ...titles: string[]) => titles.map((title) => ({ title, team }))
  let layout: GroupedLayout | null = null
  const groups = [{ fieldId: 'team', direction: 'asc' as const }]
  const { store, server } = await open(
    [...of('A', 'a', 'b'), ...of('B', 'c'), ...of('C', 'd')],
    { fields, groups },
    ({ values }) => {
      const read = async (): Promise<GroupPage> => {
        const counts = Map.groupBy(values(), ({ team }) => team ?? null)
        const list = [...counts].map(([team, rows]) => ({ keys: [team], count: rows.length, summaries: {} }))
        return { groups: list, hasMore: false }
      }
      layout = createGroupedLayout({ groups: read }, () => {})
      return layout
    },
  )
  const tree = () => {
    const now = layout?.tree.get()
    if (!now) throw new Error('There are no groups.')
    return now
  }
  const shown = () =>
    Array.from({ length: store.source.rowCount ?? 0 }, (_, row) => [
      groupAt(tree(), row)?.node.keys[0],
      store.source.getRow(row)?.values('title'),
    ])
  /** Begins a record at the end of a group, and leaves it unfinished. */
  const begin = (team: string) => {
    const first = tree().groups.findIndex(({ keys }) => keys[0] === team)
    const node = tree().groups[first]
    if (!node) throw new Error(`There is no ${team}.`)
    const index = tree()
      .groups.slice(0, first + 1)
      .reduce((sum, { count }) => sum + count, 0)
    layout?.insertInto(node, () => store.addRow(null, { index, values: { team } }))
    const id = store.source.getRow(index)?.id
    store.setActive(id ?? null)
    void store.setCells([{ rowIndex: index, recordId: id, fieldId: 'stock', value: 1 }])
    store.setActive(null)
  }
  const change = async (...operations: Parameters<typeof server.elsewhere>[0]['operations']) => {
    store.receive(server.elsewhere({ operations }))
    await pause(300)
  }

  begin('A')
  begin('C')
  await change({ kind: 'delete', tableId: 'm1', ids: [1] })
  expect(shown()).toEqual([
    ['A', 'b'],
    ['A', null],
    ['B', 'c'],
    ['C', 'd'],
    ['C', null],
  ])
  const rows = ['D', 'E'].map((team) => ({ values: { title: 'e', team } }))
  await change({ kind: 'insert', tableId: 'm1', rows })
  expect(shown()).toEqual([
    ['A', 'b'],
    ['A', null],
    ['B', 'c'],
    ['C', 'd'],
    ['C', null],
    ['D', 'e'],
    ['E', 'e'],
  ])
  store.dispose()
})
