import {
  passwordHeader,
  SHARE_HEADERS,
  SHARE_PASSWORD_HEADER,
  type ShareKind,
} from '../../src/core/shares.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

/** The headers of whoever comes by a link. */
export const byLink = (kind: ShareKind, id: string, password?: string): Record<string, string> => ({
  [SHARE_HEADERS[kind]]: id,
  ...(password !== undefined && { [SHARE_PASSWORD_HEADER]: passwordHeader(password) }),
})

/** The code of a refusal, or `null` where there was none. */
export async function refusalOf(call: Promise<unknown>): Promise<string | null> {
  try {
    await call
    return null
  } catch (error) {
    const { data } = error as { data?: { appCode?: string; httpStatus?: number } }
    if (!data?.appCode) throw error
    return `${data.httpStatus} ${data.appCode}`
  }
}

/** The refusals of calls that have begun, by name; each is waited for at once, so that none is missed. */
export async function refusalsOf(
  calls: Record<string, Promise<unknown>>,
): Promise<Record<string, string | null>> {
  const said = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => [name, await refusalOf(call)] as const),
  )
  return Object.fromEntries(said)
}

/** The same answer for each of some names. */
export const all = <T>(names: object, answer: T): Record<string, T> =>
  Object.fromEntries(Object.keys(names).map((name) => [name, answer]))

export type Secrets = Awaited<ReturnType<typeof createSecrets>>

/**
 * A base with people's salaries in it: a table `Staff` of which a view shows the name, the mood and the team, and only
 * those who are in the office. Everything whose title begins with "Secret" must stay inside.
 */
export async function createSecrets(app: TestApp, owner: TestUser, title = 'Company') {
  const trpc = app.trpc(owner.token)
  const { id: baseId } = await createBase(app, owner, title)
  const teams = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Secret teams',
    fields: [
      { title: 'Team', type: 'SingleLineText' },
      { title: 'Secret budget', type: 'Number' },
    ],
  })
  const staff = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Staff',
    fields: [
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Mood', type: 'SingleSelect', options: { choices: [{ title: 'Fine' }, { title: 'Sad' }] } },
      { title: 'Secret salary', type: 'Number' },
      { title: 'In office', type: 'Checkbox' },
      { title: 'Boss', type: 'User' },
      { title: 'Secret friend', type: 'User' },
      { title: 'Photo', type: 'Attachment' },
      { title: 'Secret file', type: 'Attachment' },
    ],
  })
  const tableId = staff.table.id
  const field = async (title: string) => {
    const { fields } = await trpc.schema.table.query({ tableId })
    return fields.find((one) => one.title === title)?.id ?? ''
  }
  const link = (title: string) =>
    trpc.schema.createField.mutate({
      tableId,
      field: { title, type: 'Links', options: { kind: 'mm', relatedTableId: teams.table.id } },
    })
  const [team, secretTeam] = [await link('Teams'), await link('Secret clubs')]
  const budget = teams.fields.find((one) => one.title === 'Secret budget')?.id ?? ''
  const lookup = await trpc.schema.createField.mutate({
    tableId,
    field: {
      title: 'Money',
      type: 'Lookup',
      options: { relationFieldId: secretTeam.id, targetFieldId: budget },
    },
  })
  const salary = await field('Secret salary')
  const yearly = await trpc.schema.createField.mutate({
    tableId,
    field: {
      title: 'Band',
      type: 'Formula',
      options: { formula: 'IF({Secret salary} > 50, "high", "low")' },
    },
  })
  const ids = {
    name: await field('Name'),
    mood: await field('Mood'),
    salary,
    office: await field('In office'),
    boss: await field('Boss'),
    friend: await field('Secret friend'),
    photo: await field('Photo'),
    file: await field('Secret file'),
    team: team.id,
    secretTeam: secretTeam.id,
    money: lookup.id,
    band: yearly.id,
  }
  const shown = new Set([ids.name, ids.mood, ids.boss, ids.photo, ids.team, ids.money, ids.band])
  const view = await trpc.views.create.mutate({ tableId, title: 'For everyone', kind: 'grid' })
  const all = (await trpc.schema.table.query({ tableId })).fields
  await trpc.views.arrange.mutate({
    viewId: view.id,
    fields: all.map(({ id }, order) => ({ fieldId: id, show: shown.has(id), order })),
  })
  await trpc.views.update.mutate({
    viewId: view.id,
    patch: {
      filter: {
        join: 'and',
        children: [
          { fieldId: ids.office, operator: 'checked', value: null },
          { fieldId: ids.salary, operator: 'gt', value: 0 },
        ],
      },
      sorts: [{ fieldId: salary, direction: 'desc' }],
    },
  })
  const insert = async (tableId: string, rows: Record<string, string | number | boolean>[]) =>
    (
      await trpc.records.write.mutate({
        change: {
          baseId,
          operations: [{ kind: 'insert', tableId, rows: rows.map((values) => ({ values })) }],
        },
      })
    ).inserted
  const teamField = teams.fields.find((one) => one.title === 'Team')?.id ?? ''
  const [red, blue] = await insert(teams.table.id, [
    { [teamField]: 'Red', [budget]: 777_001 },
    { [teamField]: 'Blue', [budget]: 777_002 },
  ])
  const [ann, ben, eve] = await insert(tableId, [
    { [ids.name]: 'Ann', [ids.mood]: 'Fine', [salary]: 40, [ids.office]: true, [ids.boss]: owner.id },
    { [ids.name]: 'Ben', [ids.mood]: 'Sad', [salary]: 90, [ids.office]: true },
    { [ids.name]: 'Eve', [ids.mood]: 'Sad', [salary]: 1234, [ids.office]: false, [ids.friend]: owner.id },
  ])
  const rowLink = (fieldId: string, id: string | number, targets: (string | number)[]) =>
    trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'link', tableId, fieldId, id, targets }] },
    })
  await rowLink(ids.team, ann!, [red!])
  await rowLink(ids.secretTeam, ann!, [blue!])
  await rowLink(ids.team, eve!, [blue!])
  return {
    app,
    owner,
    trpc,
    baseId,
    tableId,
    viewId: view.id,
    fields: ids,
    teams,
    insert,
    records: { ann: ann!, ben: ben!, eve: eve!, red: red!, blue: blue! },
    share: () => trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} }),
  }
}
