import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, openShop, type Shop } from './support.ts'

// Wire §15: what clients write in cells of each stored type, and what they read there.

let shop: Shop
let path: string
/** Someone in the base, and someone who is not. */
const bob = { id: '', email: 'bob@example.com' }
let stranger: string
beforeAll(async () => {
  shop = await openShop()
  const types = [
    'Decimal',
    'Currency',
    'Percent',
    'Duration',
    'Rating',
    'Checkbox',
    'Date',
    'DateTime',
    'Time',
  ]
  types.push('Year', 'PhoneNumber', 'Email', 'URL', 'Attachment', 'JSON', 'GeoData', 'Geometry', 'User')
  types.push('Collaborator', 'AutoNumber', 'SpecificDBType', 'LongText', 'Number', 'CreatedBy', 'CreatedTime')
  const choices = { colOptions: { options: [{ title: 'red' }, { title: 'blue' }] } }
  const table = await createTable(shop, 'Cells', [
    ...types.map((uidt) => ({ title: uidt, column_name: uidt.toLowerCase(), uidt })),
    { title: 'Single', column_name: 'single', uidt: 'SingleSelect', ...choices },
    { title: 'Multi', column_name: 'multi', uidt: 'MultiSelect', ...choices },
    { title: 'Team', column_name: 'team', uidt: 'User', meta: { is_multi: true } },
    { title: 'Mail', column_name: 'mail', uidt: 'Email', meta: { validate: true } },
    { title: 'Phone', column_name: 'phone', uidt: 'PhoneNumber', meta: { validate: true } },
  ])
  path = `/api/v2/tables/${table.id}/records`
  bob.id = (await shop.app.signUp(bob.email)).id
  await shop.app.services.auth.access.setMembership(shop.baseId, bob.id, 'editor')
  stranger = (await shop.app.signUp()).id
})
afterAll(() => shop.app.stop())

const shown = ({ id, email }: typeof bob) => ({ id, email, display_name: null, meta: null })
/** What a value of a test stands for once people are known. */
const real = (value: unknown) => (typeof value === 'function' ? value() : value)

test('an empty record has nothing but what begins with a value', async () => {
  const { Id } = (await shop.rest.post(path, {})).body
  const { body } = await shop.rest.get(`${path}/${Id}`)
  const filled = Object.entries(body).filter(([, value]) => value !== null)
  expect(Object.fromEntries(filled)).toEqual({
    Id,
    CreatedAt: expect.any(String),
    CreatedTime: body.CreatedAt,
    Rating: 0,
    AutoNumber: 1,
    Checkbox: shop.app.flag(false),
    CreatedBy: shown({ id: shop.admin.id, email: 'ann@example.com' }),
  })
})

describe('a cell', () => {
  test.each<[column: string, sent: unknown, read: unknown]>([
    ['Decimal', '1.25', 1.25],
    ['Currency', '$9', 9],
    ['Percent', 50, 50],
    ['Duration', '90', 90],
    ['Duration', 1.5, 1.5],
    ['Rating', '2', 2],
    ['Checkbox', true, () => shop.app.flag(true)],
    ['Checkbox', 0, () => shop.app.flag(false)],
    ['Date', '2024/03/05', '2024-03-05'],
    ['Date', '03/05/2024', '2024-03-05'],
    ['DateTime', '2024-03-05 08:20:30+02:00', '2024-03-05 06:20:30+00:00'],
    ['DateTime', '2024-03-05T08:20:30', '2024-03-05 08:20:30+00:00'],
    ['Time', '12:34:56', '12:34:56'],
    ['Year', '2024', 2024],
    // Unchecked where the column does not ask for it.
    ['Email', 'nobody', 'nobody'],
    ['JSON', '{"a":1}', '{"a":1}'],
    ['JSON', { a: [1, null] }, '{"a":[1,null]}'],
    ['GeoData', '1.5;2.5', '1.5;2.5'],
    ['Geometry', 'POINT(1 2)', 'POINT(1 2)'],
    ['SpecificDBType', 'x', 'x'],
    ['Single', '', null],
    ['Multi', ['red', 'blue'], 'red,blue'],
    ['Multi', 'blue', 'blue'],
    ['Attachment', '', null],
    ['Attachment', [], null],
    ['Attachment', '[]', null],
    ['User', () => bob.id, () => [shown(bob)]],
    ['User', 'bob@example.com', () => [shown(bob)]],
    ['User', () => [{ id: bob.id }], () => [shown(bob)]],
    ['User', [{ email: 'bob@example.com' }], () => [shown(bob)]],
    ['User', [], null],
    ['Collaborator', 'bob@example.com', () => [shown(bob)]],
    [
      'Team',
      'bob@example.com,ann@example.com',
      () => [shown(bob), shown({ id: shop.admin.id, email: 'ann@example.com' })],
    ],
    // What the server fills is passed over.
    ['AutoNumber', 5, expect.any(Number)],
    ['CreatedBy', 'x', () => shown({ id: shop.admin.id, email: 'ann@example.com' })],
    ['CreatedTime', '2024-01-01', expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)],
  ])('%s given %j', async (column, sent, read) => {
    const made = await shop.rest.post(path, { [column]: real(sent) })
    expect([made.status, made.body]).toEqual([200, { Id: expect.any(Number) }])
    const { body } = await shop.rest.get(`${path}/${made.body.Id}?fields=${column}`)
    expect(body).toEqual({ [column]: real(read) })
    // What was read may be sent back.
    expect((await shop.rest.patch(path, { Id: made.body.Id, ...body })).status).toBe(200)
    expect((await shop.rest.get(`${path}/${made.body.Id}?fields=${column}`)).body).toEqual(body)
  })

  const invalid = (value: string, type: string, column = type) => ({
    error: 'INVALID_VALUE_FOR_FIELD',
    message: `Invalid value '${value}' for type '${type}' on column '${column}'`,
  })

  test.each<[column: string, sent: unknown, status: number, body: unknown]>([
    ['Number', 'abc', 422, invalid('abc', 'Number')],
    ['Currency', 'bad', 422, invalid('bad', 'Currency')],
    ['Duration', '1:30', 422, invalid('1:30', 'Duration')],
    ['Year', 20244, 422, invalid('20244', 'Year')],
    ['Date', 'garbage', 422, invalid('garbage', 'Date')],
    ['DateTime', 5, 422, invalid('5', 'DateTime')],
    ['Time', '25:00', 422, invalid('25:00', 'Time')],
    ['JSON', '', 422, invalid('', 'JSON')],
    ['JSON', 5, 422, invalid('5', 'JSON')],
    ['JSON', '{', 422, invalid('{', 'JSON')],
    ['GeoData', '91;0', 422, invalid('91;0', 'GeoData')],
    ['Attachment', 'bad', 400, { error: 'INVALID_ATTACHMENT_JSON' }],
    ['Attachment', [{ path: 'not/ours' }], 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['User', 'nobody', 422, { msg: "User with id 'nobody' is not part of this workspace" }],
    [
      'User',
      () => stranger,
      422,
      () => ({ msg: `User with id '${stranger}' is not part of this workspace` }),
    ],
    ['User', 'bob@example.com,ann@example.com', 422, { msg: "Multiple users not allowed for 'User'" }],
    [
      'Multi',
      'red,zz',
      400,
      { msg: 'Invalid option(s) "zz" provided for column "Multi". Valid options are "red, blue"' },
    ],
    ['Mail', 'nobody', 400, { msg: 'Validation failed : isEmail' }],
    ['Phone', 'nobody', 400, { msg: 'Validation failed : isMobilePhone' }],
  ])('%s refuses %j, and nothing is written', async (column, sent, status, body) => {
    const count = async () => (await shop.rest.get(`${path}/count`)).body.count
    const before = await count()
    const answer = await shop.rest.post(path, [{ Title: 'beside it' }, { [column]: real(sent) }])
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject(real(body))
    expect(await count()).toBe(before)
  })
})
