import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isGroup } from '../../src/core/filters/index.ts'
import { type Bench, createBench } from '../records/support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

test('the undo of a change of a view follows options that were renamed since', async () => {
  const { trpc, baseId } = bench
  const options = { choices: ['To do', 'Doing'].map((title) => ({ title })) }
  const table = await bench.table({ Title: 'SingleLineText', Status: { type: 'SingleSelect', options } })
  const { id: fieldId } = table.field('Status')
  const { id: viewId } = await trpc.views.create.mutate({ tableId: table.id, title: 'Board', kind: 'kanban' })
  const schema = () => trpc.schema.table.query({ tableId: table.id })
  const view = async () => (await schema()).views.find(({ id }) => id === viewId)
  const stacks = (...shown: [string, boolean][]) => ({
    ...(before as object),
    stacks: shown.map(([key, isHidden]) => ({ key, isHidden, isCollapsed: false })),
  })
  const before = (await view())?.options
  const filter = (value: string) => ({
    join: 'and' as const,
    children: [{ fieldId, operator: 'eq', value }],
  })
  const change = async (patch: object) => {
    await trpc.views.update.mutate({ viewId, patch })
    return (await trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id ?? 0
  }
  const shown = async () => {
    const now = await view()
    const [condition] = now?.filter && isGroup(now.filter) ? now.filter.children : []
    const { stacks } = (now?.options ?? {}) as { stacks: { key: string; isHidden: boolean }[] }
    return {
      filter: condition && !isGroup(condition) ? condition.value : null,
      stacks: stacks.map(({ key, isHidden }) => [key, isHidden]),
    }
  }
  await change({ options: stacks(['Doing', true], ['To do', false]), filter: filter('Doing') })
  const entryId = await change({
    options: stacks(['To do', true], ['Doing', false]),
    filter: filter('To do'),
  })
  const { fields } = await schema()
  const field = fields.find(({ id }) => id === fieldId)
  const { choices } = (field?.options ?? {}) as { choices: { title: string }[] }
  const renamed = choices.map((one) => ({ ...one, title: one.title === 'To do' ? 'Open' : 'Running' }))
  await trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices: renamed } } })
  const after = {
    filter: 'Open',
    stacks: [
      ['Open', true],
      ['Running', false],
    ],
  }
  expect(await shown()).toEqual(after)
  await trpc.records.undo.mutate({ baseId, entryId })
  expect(await shown()).toEqual({
    filter: 'Running',
    stacks: [
      ['Running', true],
      ['Open', false],
    ],
  })
  await trpc.records.redo.mutate({ baseId, entryId })
  expect(await shown()).toEqual(after)
})

test('deleted views and settings of forms come back with the present titles of options', async () => {
  const { trpc, baseId } = bench
  const options = { choices: ['To do', 'Doing'].map((title) => ({ title })) }
  const table = await bench.table({ Title: 'SingleLineText', Status: { type: 'SingleSelect', options } })
  const [{ id: fieldId }, { id: askedId }] = [table.field('Status'), table.field('Title')]
  const schema = () => trpc.schema.table.query({ tableId: table.id })
  const latest = async () => (await trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id ?? 0
  const createView = (kind: 'kanban' | 'form') =>
    trpc.views.create.mutate({ tableId: table.id, title: kind, kind })
  const [board, form] = [await createView('kanban'), await createView('form')]
  const condition = (value: string) => ({
    join: 'and' as const,
    children: [{ fieldId, operator: 'eq', value }],
  })
  const rules = [{ filter: condition('To do'), color: '#d1f7c4' }]
  await trpc.views.update.mutate({
    viewId: board.id,
    patch: { filter: condition('To do'), coloring: { mode: 'filter', rules } } as never,
  })
  const setForm = (fieldId: string, form: object) => ({ fieldId, form })
  await trpc.views.arrange.mutate({
    viewId: form.id,
    fields: [
      setForm(fieldId, { limitOptions: ['Doing'] }),
      setForm(askedId, { showIf: condition('Doing') }),
    ] as never,
  })
  const arranged = await latest()
  await trpc.views.delete.mutate({ viewId: board.id })
  const deletions = [await latest()]
  await trpc.records.undo.mutate({ baseId, entryId: arranged })
  await trpc.views.delete.mutate({ viewId: form.id })
  deletions.push(await latest())
  const { choices } = table.field('Status').options as { choices: { title: string }[] }
  const renamed = choices.map((one) => ({ ...one, title: one.title === 'To do' ? 'Open' : 'Running' }))
  await trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices: renamed } } })
  for (const entryId of deletions) await trpc.records.undo.mutate({ baseId, entryId })
  await trpc.records.redo.mutate({ baseId, entryId: arranged })
  const restored = JSON.stringify(
    (await schema()).views.filter(({ id }) => id === board.id || id === form.id),
  )
  expect(restored).toContain('"value":"Open"')
  expect(restored).toContain('"limitOptions":["Running"]')
  expect(restored).not.toContain('To do')
  expect(restored).not.toContain('Doing')
})
