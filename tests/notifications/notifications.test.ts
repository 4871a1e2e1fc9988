import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { defineNotificationTables } from '../../modules/notifications/tables.ts'
import { MAX_WATCHES, type Notification, notificationText } from '../../src/core/notifications.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'

let bench: Bench
let table: TestTable
let ann: TestUser
let ben: TestUser
beforeAll(async () => {
  bench = await createBench()
  ann = await member('editor')
  ben = await member('commenter')
  table = await bench.table(
    {
      Title: 'SingleLineText',
      Owner: { type: 'User', options: { multiple: true, notify: true } },
      Reviewer: { type: 'User', options: { multiple: true, notify: false } },
      Done: 'Checkbox',
    },
    [{ Title: 'a' }, { Title: 'b' }, { Title: 'c' }],
  )
})
afterAll(() => bench.stop())

async function member(role: 'editor' | 'commenter' | 'viewer'): Promise<TestUser> {
  const user = await bench.app.signUp()
  await bench.app.services.auth.access.setMembership(bench.baseId, user.id, role)
  await bench.app.trpc(user.token).notifications.markAllRead.mutate()
  return user
}

const of = (user: TestUser) => bench.app.trpc(user.token).notifications
/** Waits until what happened so far has notified those whom it concerns: who watches later is not told of it. */
const settled = () => bench.app.services.records.feed.settled(bench.baseId)
/** The unread notifications of a person, once the log has been read. */
async function news(user: TestUser): Promise<Notification[]> {
  await settled()
  return (await of(user).list.query({ unreadOnly: true })).notifications
}
const texts = async (user: TestUser) => (await news(user)).map(notificationText)
const readAll = async () => {
  for (const user of [bench.owner, ann, ben]) {
    await news(user)
    await of(user).markAllRead.mutate()
  }
}
const update = (values: Record<string, unknown>, recordId = 1, trpc = bench.trpc) =>
  trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        { kind: 'update', tableId: table.id, rows: [{ id: recordId, values: table.values(values) }] },
      ],
    },
  })
const write = (text: string, user: TestUser = bench.owner, parentId?: string) =>
  bench.app
    .trpc(user.token)
    .comments.create.mutate({ tableId: table.id, recordId: 1, text, ...(parentId && { parentId }) })

describe('a new account', () => {
  test('is welcomed once', async () => {
    const user = await bench.app.signUp()
    expect((await of(user).list.query({ unreadOnly: false })).notifications).toMatchObject([
      { kind: 'welcome', isRead: false, isAvailable: true },
    ])
  })

  test('is told of bases that it is invited to, by somebody else', async () => {
    const user = await bench.app.signUp()
    await bench.trpc.bases.invite.mutate({ baseId: bench.baseId, emails: [user.email], role: 'viewer' })
    const [invite] = await news(user)
    expect(invite).toMatchObject({
      kind: 'invite',
      base: { id: bench.baseId },
      actor: { id: bench.owner.id },
    })
  })
})

describe('an assignment', () => {
  test('notifies the person added, not the one who did it, and only in fields that notify', async () => {
    await readAll()
    await update({ Owner: `${ann.id},${bench.owner.id}`, Reviewer: ben.id })
    expect(await texts(ann)).toEqual([`${bench.owner.email} assigned you to a in ${table.title} (Owner)`])
    expect(await texts(bench.owner)).toEqual([])
    expect(await texts(ben)).toEqual([])
    // Other values, and the same person again, notify nobody.
    await update({ Done: true, Owner: `${ann.id}` })
    expect(await news(ann)).toHaveLength(1)
  })

  test('that is undone or taken back leaves nothing', async () => {
    await readAll()
    await update({ Owner: ben.id }, 2)
    expect(await news(ben)).toHaveLength(1)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await news(ben)).toEqual([])
    await update({ Owner: ben.id }, 2)
    await update({ Owner: null }, 2)
    expect(await news(ben)).toEqual([])
    // Undo of a removal is no new assignment.
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await news(ben)).toEqual([])
    await update({ Owner: null }, 2)
  })

  test('that a restored version brings back is no new one', async () => {
    await update({ Owner: ben.id }, 3)
    const place = { baseId: bench.baseId, tableId: table.id, direction: 'undo' } as const
    const assigned = await bench.trpc.records.nextAction.query(place)
    await update({ Owner: null }, 3)
    await readAll()
    await bench.trpc.records.restoreRecordVersion.mutate({
      tableId: table.id,
      recordId: 3,
      entryId: assigned!.id,
    })
    expect((await table.list())[2]?.Owner).toMatchObject([{ id: ben.id }])
    expect(await news(ben)).toEqual([])
    await update({ Owner: null }, 3)
  })

  test('of many records in one change is one notification', async () => {
    await readAll()
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ Title: `bulk ${n}`, Owner: ann.id }))
    expect((await bench.rest.post(table.path, rows)).status).toBe(200)
    expect(await news(ann)).toMatchObject([{ kind: 'assigned', count: 1_200, record: null }])
    expect(await texts(ann)).toEqual([`${bench.owner.email} assigned you to 1,200 records in ${table.title}`])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await news(ann)).toEqual([])
  })

  test('in a field whose option is turned on later counts from then on', async () => {
    await readAll()
    const other = await bench.table(
      { Title: 'SingleLineText', Who: { type: 'User', options: { multiple: false, notify: false } } },
      [{ Title: 'x' }],
    )
    const assign = (to: string | null) =>
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [
            { kind: 'update', tableId: other.id, rows: [{ id: 1, values: other.values({ Who: to }) }] },
          ],
        },
      })
    await assign(ann.id)
    await bench.trpc.schema.updateField.mutate({
      fieldId: other.field('Who').id,
      patch: { options: { multiple: false, notify: true } },
    })
    await assign(ben.id)
    expect(await news(ann)).toEqual([])
    expect(await news(ben)).toHaveLength(1)
  })
})

describe('a comment', () => {
  test('notifies those whom it mentions, once, and withdraws with the comment', async () => {
    await readAll()
    const { id, text } = await write(`Look, @(${ann.id}|x@example.com|X) and @(${bench.owner.id})`)
    expect(text).toBe(`Look, @(${ann.id}) and @(${bench.owner.id})`)
    expect(await news(ann)).toMatchObject([
      {
        kind: 'mention',
        record: { id: 1, title: 'a' },
        detail: { text: `Look, @${ann.email} and @${bench.owner.email}` },
      },
    ])
    expect(await news(bench.owner)).toEqual([])
    await bench.trpc.comments.update.mutate({ commentId: id, text: `Look @(${ann.id}), @(${ben.id})` })
    expect(await news(ann)).toMatchObject([{ detail: { text: `Look @${ann.email}, @${ben.email}` } }])
    expect(await news(ben)).toMatchObject([{ kind: 'mention' }])
    await bench.trpc.comments.remove.mutate({ commentId: id })
    expect([await news(ann), await news(ben)]).toEqual([[], []])
  })

  test('mentions nobody without access to the base', async () => {
    const stranger = await bench.app.signUp()
    await of(stranger).markAllRead.mutate()
    const { id, text } = await write(`Hi @(${stranger.id}|s@example.com|Sue) @(us00000000000000)`)
    expect(text).toBe('Hi @Sue @')
    expect(await news(stranger)).toEqual([])
    await bench.trpc.comments.remove.mutate({ commentId: id })
  })

  test('notifies those who take part in its thread', async () => {
    await readAll()
    const first = await write('First', ben)
    await write('Answer', ann, first.id)
    expect(await texts(ben)).toEqual([`${ann.email} replied on a in ${table.title}`])
    await write('Again', bench.owner, first.id)
    expect(await news(ann)).toMatchObject([{ kind: 'reply', detail: { text: 'Again' } }])
    expect(await news(bench.owner)).toEqual([])
    await bench.app.trpc(ben.token).comments.remove.mutate({ commentId: first.id })
    expect(await news(ben)).toEqual([])
  })
})

describe('a watched record', () => {
  test('notifies of changes and comments by others, and collects what is unread', async () => {
    await readAll()
    const target = { tableId: table.id, recordId: 3 }
    await of(ben).watch.mutate({ target, isOn: true })
    expect(await of(ben).watched.query()).toEqual([{ tableId: table.id, kind: 'record', targetId: '3' }])
    expect(await of(ben).watches.query()).toMatchObject([{ kind: 'record', targetId: '3', title: 'c' }])
    await update({ Title: 'c2' }, 3)
    await update({ Done: true }, 3)
    const [only, ...rest] = await news(ben)
    expect(rest).toEqual([])
    expect(only).toMatchObject({ kind: 'recordChanged', count: 2, fields: ['Title', 'Done'] })
    await of(ben).mark.mutate({ ids: [only?.id ?? ''], isRead: true })
    await update({ Title: 'c3' }, 3)
    expect(await news(ben)).toMatchObject([{ count: 1, fields: ['Title'] }])
    await bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 3, text: 'Seen?' })
    expect((await news(ben)).map(({ kind }) => kind)).toEqual(['comment', 'recordChanged'])
    await of(ben).watch.mutate({ target, isOn: false })
    await readAll()
    await update({ Title: 'c4' }, 3)
    expect(await news(ben)).toEqual([])
  })

  test('is named as its table shows it, in the time zone of the reader', async () => {
    await readAll()
    const visits = await bench.table({ At: 'DateTime' }, [{ At: '2026-01-05 23:30:00+00:00' }])
    await settled()
    const target = { tableId: visits.id, recordId: 1 }
    await of(ben).watch.mutate({ target, isOn: true })
    await bench.trpc.comments.create.mutate({ ...target, text: 'Late?' })
    const timeZone = 'Asia/Tokyo'
    expect(await of(ben).watches.query({ timeZone })).toMatchObject([{ title: '2026-01-06 08:30' }])
    const { notifications } = await of(ben).list.query({ unreadOnly: true, timeZone })
    const comment = notifications.find(({ kind }) => kind === 'comment')
    expect(comment?.record).toEqual({ id: 1, title: '2026-01-06 08:30' })
    await of(ben).watch.mutate({ target, isOn: false })
  })

  test('finds room among watches of what is gone, at once and from time to time', async () => {
    const { db, tables } = bench.app.kernel.meta
    const { watches } = tables(defineNotificationTables)
    const fill = () =>
      db.insert(watches).values(
        Array.from({ length: MAX_WATCHES }, (_, n) => ({
          userId: ben.id,
          baseId: bench.baseId,
          tableId: table.id,
          kind: 'record' as const,
          targetId: String(100_000 + n),
          createdAt: new Date().toISOString(),
        })),
      )
    await fill()
    const target = { tableId: table.id, recordId: 3 }
    await of(ben).watch.mutate({ target, isOn: true })
    expect(await of(ben).watched.query()).toEqual([{ tableId: table.id, kind: 'record', targetId: '3' }])
    await of(ben).watch.mutate({ target, isOn: false })
    await fill()
    await bench.app.services.notifications.forget()
    expect(await of(ben).watched.query()).toEqual([])
  })

  test('is watched by those who comment on it or are assigned, if they want so', async () => {
    await readAll()
    await of(ann).setSettings.mutate({ baseId: null, watchesOwn: true })
    await write('Mine', ann)
    await update({ Owner: ann.id }, 2)
    await news(ann)
    expect((await of(ann).watches.query()).map(({ targetId }) => targetId).sort()).toEqual(['1', '2'])
    for (const recordId of [1, 2])
      await of(ann).watch.mutate({ target: { tableId: table.id, recordId }, isOn: false })
    await of(ann).setSettings.mutate({ baseId: null, watchesOwn: false })
  })

  test('must exist', async () => {
    await expect(
      of(ann).watch.mutate({ target: { tableId: table.id, recordId: 99_999 }, isOn: true }),
    ).rejects.toMatchObject({ data: { appCode: 'RECORD_NOT_FOUND' } })
    await expect(
      of(ann).watch.mutate({ target: { tableId: table.id, viewId: 'vw00000000000000' }, isOn: true }),
    ).rejects.toMatchObject({ data: { appCode: 'VIEW_NOT_FOUND' } })
  })
})

describe('a watched view', () => {
  test('notifies of records that enter, change in and leave it', async () => {
    await readAll()
    const own = await bench.table({ Title: 'SingleLineText', Open: 'Checkbox' }, [
      { Title: 'x', Open: true },
      { Title: 'y' },
      { Title: 'z' },
    ])
    await settled()
    const { id: viewId } = await bench.trpc.views.create.mutate({
      tableId: own.id,
      kind: 'grid',
      title: 'Open ones',
    })
    await bench.trpc.views.update.mutate({
      viewId,
      patch: { filter: { fieldId: own.field('Open').id, operator: 'checked' } },
    } as never)
    await of(ann).watch.mutate({ target: { tableId: own.id, viewId }, isOn: true })
    const change = (recordId: number, values: Record<string, unknown>) =>
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [
            { kind: 'update', tableId: own.id, rows: [{ id: recordId, values: own.values(values) }] },
          ],
        },
      })
    await change(3, { Title: 'outside' })
    expect(await news(ann)).toEqual([])
    await change(1, { Title: 'x2' })
    expect(await news(ann)).toMatchObject([
      { kind: 'viewChanged', detail: { entered: 0, changed: 1, left: 0 } },
    ])
    // Read one by one: of changes that are read together, the last state of a record counts.
    for (const next of [
      () => change(2, { Open: true }),
      () => change(1, { Open: false }),
      () => bench.rest.post(own.path, { Title: 'new', Open: true }),
      () => bench.rest.delete(own.path, { Id: 2 }),
    ]) {
      await next()
      await news(ann)
    }
    const shown = await news(ann)
    expect(shown).toMatchObject([
      { count: 5, view: { title: 'Open ones' }, detail: { entered: 2, changed: 1, left: 2 } },
    ])
    expect(notificationText(shown[0]!)).toContain('2 records added, 1 record changed, 2 records left')
  })
})

describe('access', () => {
  test('is checked again when a notification is shown: a removed member gets no names', async () => {
    const user = await member('editor')
    await update({ Owner: user.id, Title: 'Secret' })
    expect(JSON.stringify(await news(user))).toContain('Secret')
    await bench.app.services.auth.access.setMembership(bench.baseId, user.id, 'no-access')
    const shown = await news(user)
    expect(shown).toMatchObject([{ isAvailable: false, base: null, record: null, actor: null }])
    expect(JSON.stringify(shown)).not.toContain('Secret')
    const { body } = await bench.app.rest(user.token).get('/api/v1/notifications')
    expect(JSON.stringify(body)).not.toContain('Secret')
    // And none are made.
    await update({ Owner: null })
    await update({ Owner: user.id })
    expect(await news(user)).toHaveLength(0)
    await update({ Owner: null, Title: 'a' })
  })

  test('is to one’s own notifications only', async () => {
    await update({ Owner: null }, 2)
    await readAll()
    await update({ Owner: ann.id }, 2)
    const [shown] = await news(ann)
    const ids = [shown?.id ?? '']
    await of(ben).mark.mutate({ ids, isRead: true })
    await of(ben).remove.mutate({ id: ids[0] ?? '' })
    expect(await news(ann)).toHaveLength(1)
    await of(ann).remove.mutate({ id: ids[0] ?? '' })
    expect(await news(ann)).toEqual([])
    await update({ Owner: null }, 2)
  })
})

describe('settings', () => {
  test('turn a topic off in one base or in all, and mute a base', async () => {
    await readAll()
    const assign = async () => {
      await update({ Owner: ann.id }, 2)
      const count = (await news(ann)).length
      await update({ Owner: null }, 2)
      await news(ann)
      return count
    }
    const { baseId } = bench
    await of(ann).setSettings.mutate({ baseId: null, channels: { assignments: 'off' } })
    expect(await assign()).toBe(0)
    await of(ann).setSettings.mutate({ baseId, channels: { assignments: 'app' } })
    expect(await assign()).toBe(1)
    await of(ann).setSettings.mutate({ baseId, isMuted: true })
    expect(await assign()).toBe(0)
    expect(await of(ann).settings.query()).toMatchObject({
      channels: { assignments: 'off', mentions: 'mail' },
      bases: [{ baseId, isMuted: true, channels: { assignments: 'app' } }],
    })
    await of(ann).setSettings.mutate({ baseId, isMuted: false, channels: { assignments: null } })
    await of(ann).setSettings.mutate({ baseId: null, channels: { assignments: null } })
    expect(await assign()).toBe(1)
  })

  test('of a base need access to it', async () => {
    const stranger = await bench.app.signUp()
    await expect(
      of(stranger).setSettings.mutate({ baseId: bench.baseId, isMuted: true }),
    ).rejects.toMatchObject({ data: { appCode: 'FORBIDDEN' } })
  })
})
