import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { byLink, createSecrets, refusalOf, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp()
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

const ODD: unknown[] = [
  null,
  undefined,
  -1,
  1e308,
  0.5,
  true,
  '',
  ' ',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '漢'.repeat(20_000),
  "'; drop table users --",
  '"',
  '%',
  '../../etc/passwd',
  [],
  {},
  [[]],
  [null],
  JSON.parse('{"__proto__":{"a":1}}'),
]

test('what makes no sense is refused in the words of the caller, whoever sends it', async () => {
  const { baseId, tableId, viewId, fields, trpc } = world
  const { id } = await trpc.shares.save.mutate({ kind: 'base', targetId: baseId, patch: { role: 'editor' } })
  const calls: Record<string, { query?: true; input: Record<string, unknown> }> = {
    'copies.table': { input: { tableId, options: { withData: false } } },
    'copies.field': { input: { fieldId: fields.name, withData: false, viewId, beforeFieldId: fields.mood } },
    'views.hide': { input: { viewId, from: ['viewer'] } },
    'imports.missingNames': { query: true, input: { baseId, tableId, fieldId: fields.team, texts: ['Red'] } },
    'records.signFiles': { query: true, input: { tableId, paths: ['download/x'] } },
    'records.export': { input: { tableId, viewId, format: 'csv', fieldIds: [] } },
  }
  const broken: unknown[] = []
  for (const credentials of [{ 'xc-auth': owner.token }, byLink('base', id)]) {
    for (const [name, { query, input }] of Object.entries(calls)) {
      for (const key of Object.keys(input)) {
        for (const odd of ODD) {
          const body = JSON.stringify({ ...input, [key]: odd })
          const address = `${app.url}/trpc/${name}`
          const headers = { ...credentials, 'content-type': 'application/json' }
          const { status } = query
            ? await fetch(`${address}?input=${encodeURIComponent(body)}`, { headers })
            : await fetch(address, { method: 'POST', headers, body })
          if (status >= 500) broken.push([name, key, String(odd).slice(0, 40), status])
        }
      }
    }
    for (const odd of ODD) {
      const text = encodeURIComponent(String(odd).toWellFormed().slice(0, 2000))
      for (const path of [
        `/dltemp/${text}/9999999999999/a`,
        `/dltemp/AAAAAAAAAAAAAAAA/${text}/a`,
        `/dltemp/AAAAAAAAAAAAAAAA/9999999999999.view.${text}/a`,
        `/dltemp/AAAAAAAAAAAAAAAA/9999999999999.base.${text}/a`,
        `/dltemp/AAAAAAAAAAAAAAAA/9999999999999/${text}`,
        `/download/${text}`,
      ]) {
        const { status } = await fetch(app.url + path, { headers: credentials })
        if (status >= 500 || status === 200) broken.push([path.slice(0, 80), status])
      }
    }
  }
  expect(broken).toEqual([])
})

test('names of records are not told by an import into another base, nor to who may not read theirs', async () => {
  const guest = await app.signUp()
  await app.rest(owner.token).patch(`/api/v1/users/${guest.id}`, { roles: 'org-level-creator' })
  const own = await createSecrets(app, guest, 'Own')
  const texts = ['Red', 'Nobody']
  const ask = (baseId: string, tableId: string, fieldId: string) =>
    refusalOf(app.trpc(guest.token).imports.missingNames.query({ baseId, tableId, fieldId, texts }))
  expect(await ask(own.baseId, own.tableId, own.fields.team)).toBeNull()
  const refused = await Promise.all([
    ask(own.baseId, world.tableId, world.fields.team),
    ask(own.baseId, own.tableId, world.fields.team),
    ask(world.baseId, world.tableId, world.fields.team),
  ])
  expect(refused.map((code) => code?.[0])).toEqual(['4', '4', '4'])
})
