import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { nowIso } from '../../src/clock.ts'
import { createMember } from '../support/factories.ts'
import { uploadOne } from './attachments-support.ts'
import { createLink, linkedIds } from './links-support.ts'
import { brokenRules, createWorld, findDangling, randomOf, readWorld, textOf } from './links-world.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

/** Names the moment right after everything that was done so far. */
async function momentNow(table: { id: string }): Promise<{ tableId: string; at: string }> {
  const at = nowIso()
  // The next entry must be of another millisecond.
  await Bun.sleep(3)
  return { tableId: table.id, at }
}

async function lastField(table: { id: string }): Promise<{ id: number }> {
  const { actions } = await bench.trpc.records.actions.query({
    baseId: bench.baseId,
    tableId: table.id,
    limit: 10,
  })
  return actions.find(({ kind }) => kind === 'field.update')!
}

const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

const undo = (entryId: number) => bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId })
const redo = (entryId: number) => bench.trpc.records.redo.mutate({ baseId: bench.baseId, entryId })

describe('records.restoreTable', () => {
  test('rejects times that the history does not cover, and changes nothing', async () => {
    const early = new Date(Date.now() - 86_400_000).toISOString()
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const asked = (moment: object) =>
      changesNothing(bench, () =>
        refusalOf(bench.trpc.records.restoreTable.mutate({ tableId: table.id, ...moment } as never)),
      )
    expect(await asked({ at: early })).toMatchObject({
      status: 400,
      message: `${table.title} did not exist at that time`,
    })
    expect(await asked({ at: new Date(Date.now() + 60_000).toISOString() })).toMatchObject({
      status: 400,
      message: 'This time is in the future',
    })
    expect(await asked({ before: 9_999_999 })).toMatchObject({ status: 400 })
    expect(await asked({ at: 'yesterday' })).toMatchObject({ status: 400 })
    expect(await asked({})).toMatchObject({ status: 400 })
    await bench.app.services.bases.saveHistory(bench.baseId, { historySince: new Date().toISOString() })
    expect(await asked({ at: early })).toMatchObject({ status: 400 })
    await bench.app.services.bases.saveHistory(bench.baseId, { historySince: null })
  })

  test('rejects an editor', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const moment = await momentNow(table)
    const editor = bench.app.trpc((await createMember(bench.app, bench.baseId, 'editor')).token)
    expect(await refusalOf(editor.records.restoreTable.mutate(moment))).toMatchObject({ status: 403 })
    expect(await refusalOf(editor.records.previewTableRestore.query(moment))).toMatchObject({ status: 403 })
  })

  test.each([5, 1_500])('restores %i records; undo and redo revert that', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({
      Title: `r${index}`,
      Qty: index,
      Done: index % 2 === 0,
    }))
    const table = await bench.table(
      { Title: 'SingleLineText', Qty: 'Number', Done: 'Checkbox', Tags: 'LongText' },
      rows,
    )
    const moment = await momentNow(table)
    const original = await rowsOf(table)
    await bench.rest.patch(table.path, [
      { Id: 1, Qty: 700, Tags: 'with "quotes" and \\ and \n' },
      { Id: 2, Title: null, Done: true },
    ])
    await bench.rest.patch(table.path, [{ Id: 1, Qty: 701 }])
    await bench.rest.delete(table.path, [{ Id: 3 }])
    await bench.rest.post(table.path, [{ Title: 'new' }])
    await bench.rest.post(
      table.path,
      Array.from({ length: 120 }, (_, index) => ({ Title: `range ${index}` })),
    )
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: table.values({ Done: true }),
    })
    const changed = await rowsOf(table)
    const preview = await bench.trpc.records.previewTableRestore.query(moment)
    expect(preview).toMatchObject({ added: 1, deleted: 121, left: [] })
    expect(preview.authors.map(({ actorId }) => actorId)).toEqual([bench.owner.id])
    const { changeId, records } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(records).toBe(preview.added + preview.deleted + preview.changed)
    expect(await rowsOf(table)).toEqual(original)
    expect(await bench.trpc.records.restoreTable.mutate(moment)).toMatchObject({ records: 0, changeId: 0 })
    await undo(changeId)
    expect(await rowsOf(table)).toEqual(changed)
    await redo(changeId)
    expect(await rowsOf(table)).toEqual(original)
  })

  test('leaves out records that were deleted forever since, and tells how many', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const moment = await momentNow(table)
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, recordIds: [1] })
    expect(await bench.trpc.records.previewTableRestore.query(moment)).toMatchObject({ added: 1, purged: 1 })
    await bench.trpc.records.restoreTable.mutate(moment)
    expect(await rowsOf(table)).toEqual([{ Id: 2, Title: 'b' }])
  })

  test('gives back the files of cells', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' }, [{ Title: 'a' }])
    const file = await uploadOne(bench, bench.owner.token, 'a.txt', 'hello')
    await bench.rest.patch(table.path, [{ Id: 1, Files: [file] }])
    const moment = await momentNow(table)
    const original = (await table.list())[0]?.Files as { path: string }[]
    await bench.rest.patch(table.path, [{ Id: 1, Files: null }])
    await bench.rest.delete(table.path, [{ Id: 1 }])
    await bench.trpc.records.restoreTable.mutate(moment)
    const restored = (await table.list())[0]?.Files as { path: string; title: string }[]
    expect(restored.map(({ path }) => path)).toEqual(original.map(({ path }) => path))
  })

  test('keeps automatic numbers', async () => {
    const table = await bench.table({ Title: 'SingleLineText', No: 'AutoNumber' as never }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    const original = await rowsOf(table)
    const moment = await momentNow(table)
    await bench.rest.delete(table.path, [{ Id: 1 }])
    await bench.rest.post(table.path, [{ Title: 'c' }])
    await bench.trpc.records.restoreTable.mutate(moment)
    expect(await rowsOf(table)).toEqual(original)
  })

  test('keeps the later changes of chosen people', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, [
      { Title: 'a', Qty: 1 },
      { Title: 'b', Qty: 2 },
      { Title: 'c', Qty: 3 },
    ])
    const ann = await createMember(bench.app, bench.baseId, 'editor')
    const annRest = bench.app.rest(ann.token)
    const moment = await momentNow(table)
    await annRest.patch(table.path, [{ Id: 1, Qty: 10 }])
    await bench.rest.patch(table.path, [
      { Id: 1, Title: 'A', Qty: 11 },
      { Id: 2, Qty: 20 },
    ])
    await annRest.delete(table.path, [{ Id: 3 }])
    await annRest.post(table.path, [{ Title: 'hers', Qty: 5 }])
    await bench.rest.post(table.path, [{ Title: 'mine' }])
    await bench.trpc.records.restoreTable.mutate({ ...moment, keep: [ann.id] })
    expect(await rowsOf(table)).toMatchObject([
      { Id: 1, Title: 'a', Qty: 10 },
      { Id: 2, Title: 'b', Qty: 2 },
      { Id: 4, Title: 'hers', Qty: 5 },
    ])
    expect(await table.total()).toBe(3)
  })

  test.each(['optional', 'required'])(
    'swaps unique values that are %s back, and refuses one that a record which stays has taken',
    async (rule) => {
      const table = await bench.table(
        {
          Title: 'SingleLineText',
          Code: { type: 'SingleLineText', unique: true, required: rule === 'required' },
        },
        [
          { Title: 'a', Code: 'x' },
          { Title: 'b', Code: 'y' },
        ],
      )
      const original = await rowsOf(table)
      const moment = await momentNow(table)
      await bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [
            {
              kind: 'update',
              tableId: table.id,
              rows: [
                { id: 1, values: table.values({ Code: 'y' }) },
                { id: 2, values: table.values({ Code: 'x' }) },
              ],
            },
          ],
        },
      })
      await bench.rest.delete(table.path, [{ Id: 1 }])
      const ann = await createMember(bench.app, bench.baseId, 'editor')
      await bench.app.rest(ann.token).post(table.path, [{ Title: 'c', Code: 'y' }])
      const refused = await changesNothing(bench, () =>
        refusalOf(bench.trpc.records.restoreTable.mutate({ ...moment, keep: [ann.id] })),
      )
      expect(refused).toMatchObject({ status: 400 })
      expect(refused.message).toContain('Code')
      await bench.trpc.records.restoreTable.mutate(moment)
      expect(await rowsOf(table)).toEqual(original)
    },
  )

  test('restores the order of the table and of a board', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const board = await bench.trpc.views.create.mutate({ tableId: table.id, kind: 'gallery', title: 'Board' })
    const move = (ids: number[], before: number | null, viewId?: string) =>
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [{ kind: 'move', tableId: table.id, ids, before, ...(viewId && { viewId }) }],
        },
      })
    const onBoard = async () =>
      (
        await bench.trpc.records.list.query({
          query: { tableId: table.id, viewId: board.id, orderViewId: board.id, limit: 10, offset: 0 },
        })
      ).ids
    await move([3], 1, board.id)
    const moment = await momentNow(table)
    await move([1], null)
    await move([2], 3, board.id)
    await move([1], 3, board.id)
    expect(await table.titles()).toEqual(['b', 'c', 'a'])
    const { changeId } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(await table.titles()).toEqual(['a', 'b', 'c'])
    expect(await onBoard()).toEqual([3, 1, 2])
    await undo(changeId)
    expect(await table.titles()).toEqual(['b', 'c', 'a'])
    expect(await onBoard()).toEqual([1, 2, 3].toSorted((a, b) => [2, 1, 3].indexOf(a) - [2, 1, 3].indexOf(b)))
  })

  test('leaves fields alone whose type or choices were changed since, and names them and deleted ones', async () => {
    const choices = [{ title: 'Open' }, { title: 'Done' }]
    const table = await bench.table(
      {
        Title: 'SingleLineText',
        Qty: 'SingleLineText',
        Note: 'SingleLineText',
        Status: { type: 'SingleSelect', options: { choices } as never },
      },
      [{ Title: 'a', Qty: '1', Note: 'n', Status: 'Open' }],
    )
    const moment = await momentNow(table)
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'A', Qty: '2', Note: 'N', Status: 'Done' }])
    await bench.trpc.schema.updateField.mutate({ fieldId: table.field('Qty').id, patch: { type: 'Number' } })
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Note').id })
    const known = (table.field('Status').options as { choices: { id: string; title: string }[] }).choices
    await bench.trpc.schema.updateField.mutate({
      fieldId: table.field('Status').id,
      patch: {
        options: {
          choices: known.map((one) => ({ ...one, title: one.title === 'Open' ? 'New' : one.title })),
        } as never,
      },
    })
    const { left } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(left.toSorted((a, b) => a.title.localeCompare(b.title))).toEqual([
      { title: 'Note', reason: 'deleted' },
      { title: 'Qty', reason: 'type' },
      { title: 'Status', reason: 'choices' },
    ])
    expect(await rowsOf(table)).toEqual([{ Id: 1, Title: 'a', Qty: 2, Status: 'Done' }])
  })

  test.each([
    ['swapped', 'Done', 'Open'],
    ['renamed before, which was undone since', 'Open', 'Done'],
  ])('leaves a field alone whose choices were %s', async (_, first, second) => {
    const choices = [{ title: 'Open' }, { title: 'Done' }]
    const table = await bench.table(
      { Title: 'SingleLineText', Status: { type: 'SingleSelect', options: { choices } as never } },
      [{ Title: 'a', Status: 'Open' }],
    )
    const { id: fieldId, options } = table.field('Status')
    const known = (options as { choices: { id: string; title: string }[] }).choices
    const rename = async (titles: string[]) => {
      const renamed = known.map((one, at) => ({ ...one, title: titles[at] ?? '' }))
      await bench.trpc.schema.updateField.mutate({
        fieldId,
        patch: { options: { choices: renamed } as never },
      })
    }
    const isUndone = first === 'Open'
    if (isUndone) await rename(['Opened', 'Done'])
    const moment = await momentNow(table)
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'A', Status: 'Done' }])
    if (isUndone) await undo((await lastField(table)).id)
    else await rename([first, second])
    const { left } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(left).toEqual([{ title: 'Status', reason: 'choices' }])
    expect(await rowsOf(table)).toEqual([{ Id: 1, Title: 'a', Status: isUndone ? 'Done' : second }])
  })

  test('leaves a field alone that has kept values of a choice that was renamed since', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText', Status: { type: 'SingleSelect', options: { choices: [] } as never } },
      [{ Title: 'a' }],
    )
    const fieldId = table.field('Status').id
    const moment = await momentNow(table)
    const choose = (choices: object[]) =>
      bench.trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices } as never } })
    await choose([{ title: 'Added' }])
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'A', Status: 'Added' }])
    const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
    const { choices } = fields.find(({ id }) => id === fieldId)!.options as { choices: object[] }
    await choose(choices.map((one) => ({ ...one, title: 'Renamed' })))
    const { left } = await bench.trpc.records.restoreTable.mutate({ ...moment, keep: [bench.owner.id] })
    expect(left).toEqual([{ title: 'Status', reason: 'choices' }])
    expect(await rowsOf(table)).toEqual([{ Id: 1, Title: 'A', Status: 'Renamed' }])
    // Nobody has values of it that are kept: it is as empty as it was.
    expect((await bench.trpc.records.restoreTable.mutate(moment)).left).toEqual([])
    expect(await rowsOf(table)).toEqual([{ Id: 1, Title: 'a', Status: null }])
  })

  test('restores links, and leaves those to records that are gone', async () => {
    const [books, people] = [await bench.table(), await bench.table()]
    await bench.rest.post(books.path, [{ Title: 'b1' }, { Title: 'b2' }])
    await bench.rest.post(people.path, [{ Title: 'p1' }, { Title: 'p2' }, { Title: 'p3' }])
    const pairs = await createLink(bench, books, people, 'mm')
    const owned = await createLink(bench, books, people, 'hm')
    await pairs.set(1, [1, 2])
    await owned.set(1, [1, 3])
    const moment = await momentNow(books)
    await pairs.set(1, [3])
    await owned.set(1, [2])
    await bench.rest.delete(books.path, [{ Id: 1 }])
    await bench.rest.delete(people.path, [{ Id: 2 }])
    const { changeId } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([1])
    expect(await linkedIds(bench, owned.own, 1)).toEqual([1, 3])
    await undo(changeId)
    expect(await books.total()).toBe(1)
    await redo(changeId)
    expect(await linkedIds(bench, owned.own, 1)).toEqual([1, 3])
  })

  test.each([1, 2, 3, 4])('gives back every link of a table and of itself, seed %d', async (seed) => {
    const world = await createWorld(bench)
    const random = randomOf(seed)
    const { A, B } = world.tables
    const pick = (ids: number[], most: number) => ids.filter(() => random() < 0.5).slice(0, most)
    await bench.rest.post(
      A.path,
      [1, 2, 3, 4, 5].map((n) => ({ Title: `a${n}` })),
    )
    await bench.rest.post(
      B.path,
      [1, 2, 3, 4, 5].map((n) => ({ Title: `b${n}` })),
    )
    const shuffleLinks = async (ownIds: number[]) => {
      for (const [name, link] of world.links) {
        const isSelf = name.endsWith('Self')
        for (const id of ownIds) {
          const kind = link.own.options.kind
          const most = kind === 'bt' || kind === 'oo' ? 1 : 3
          if (random() < 0.7) await link.set(id, pick(isSelf ? ownIds : [1, 2, 3, 4, 5], most))
        }
      }
    }
    await shuffleLinks([1, 2, 3, 4, 5])
    const moment = await momentNow(A)
    const { own: then } = await readWorld(world)
    await bench.rest.post(A.path, [{ Title: 'a6' }, { Title: 'a7' }])
    await shuffleLinks([1, 2, 6, 7])
    await bench.rest.delete(A.path, [{ Id: 2 }, { Id: 6 }])
    await shuffleLinks([1, 3, 7])
    const { own: later } = await readWorld(world)
    const { changeId } = await bench.trpc.records.restoreTable.mutate(moment)
    const restored = await readWorld(world)
    expect(textOf(restored.own)).toEqual(textOf(then))
    expect(textOf(restored.inverse)).toEqual(textOf(then))
    expect(brokenRules(world, restored.own)).toEqual([])
    expect(await findDangling(world, restored.own.alive)).toEqual([])
    await undo(changeId)
    const undone = await readWorld(world)
    expect(textOf(undone.own)).toEqual(textOf(later))
    await redo(changeId)
    expect(textOf((await readWorld(world)).own)).toEqual(textOf(then))
  })

  test('reverts a large restore as a set, links included', async () => {
    const [books, people] = [
      await bench.table({ Title: 'SingleLineText', Qty: 'Number' }),
      await bench.table(),
    ]
    const many = Array.from({ length: 1_100 }, (_, index) => ({ Title: `b${index}`, Qty: index }))
    await bench.rest.post(books.path, many)
    await bench.rest.post(people.path, [{ Title: 'p1' }, { Title: 'p2' }])
    const pairs = await createLink(bench, books, people, 'mm')
    const owner = await createLink(bench, books, people, 'bt')
    await pairs.set(1, [1, 2])
    await pairs.set(2, [2])
    await owner.set(1, [1])
    const moment = await momentNow(books)
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: books.id },
      values: books.values({ Qty: 0 }),
    })
    await bench.rest.delete(books.path, [{ Id: 2 }])
    await pairs.set(1, [2])
    await owner.set(1, [2])
    await bench.rest.post(books.path, [{ Title: 'added' }])
    await owner.set(1_101, [1])
    const state = async () => [
      await bench.trpc.records.summaries.query({
        selection: { tableId: books.id },
        summaries: [{ fieldId: books.field('Qty').id, summary: 'sum' }],
      }),
      await books.total(),
      await linkedIds(bench, pairs.own, 1),
      await linkedIds(bench, owner.own, 1),
      await linkedIds(bench, owner.inverse, 1),
    ]
    const later = await state()
    const { changeId } = await bench.trpc.records.restoreTable.mutate(moment)
    expect(await state()).toEqual([{ [books.field('Qty').id]: (1_099 * 1_100) / 2 }, 1_100, [1, 2], [1], [1]])
    expect(await linkedIds(bench, pairs.own, 2)).toEqual([2])
    await bench.rest.patch(books.path, [{ Id: 5, Qty: 77 }])
    expect(await undo(changeId)).toMatchObject({ kind: 'records.rewind', skipped: 1 })
    await bench.rest.patch(books.path, [{ Id: 5, Qty: 0 }])
    expect(await state()).toEqual(later)
  })
})
