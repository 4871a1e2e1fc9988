import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createForeign, type ForeignDatabase, jobEnd } from '../sources/support.ts'
import { eventually } from './grid-page.ts'
import { arrivesAt, createBase, EMAIL, PASSWORD, see, setUpShell } from './shell-page.ts'

const { app, openSignedIn, expectNoProblems } = setUpShell({ withAccount: true })

let foreign: ForeignDatabase
let baseId: string
beforeAll(async () => {
  foreign = await createForeign('mariadb', [
    'create table author (id int auto_increment primary key, name varchar(40) not null, followers bigint unsigned)',
    'create table country (code varchar(2) primary key, name varchar(20) not null)',
    'create table log (line varchar(40))',
    'create table genre (id int primary key, name varchar(20))',
    `create table song (id int primary key, title varchar(20), genre_id int,
      foreign key (genre_id) references genre (id) on delete cascade)`,
    `create table chart (id int primary key, title varchar(20), song_id int,
      foreign key (song_id) references song (id))`,
    'create table post (id bigint primary key, title varchar(20))',
    "insert into post values (9007199254740993, 'Long')",
    "insert into author (name, followers) values ('Ann', 18446744073709551615), ('Bob', 9007199254740993)",
  ])
  baseId = await connectBase()
})
afterAll(() => foreign.stop())

/** A new base with all tables of the database. */
async function connectBase(): Promise<string> {
  const account = { email: EMAIL, password: PASSWORD }
  const { body } = await app().rest().post('/api/v1/auth/user/signin', account)
  const trpc = app().trpc(body.token)
  const base = await trpc.bases.create.mutate({ title: 'Connected' })
  const { id } = await trpc.sources.create.mutate({ baseId: base.id, ...foreign.sent })
  expect((await jobEnd({ app: app() }, id)).status).toBe('completed')
  return base.id
}

/** Expects these rows in the connected database once the page has written them. */
async function expectStored(query: string, rows: Record<string, unknown>[]): Promise<void> {
  const found = await eventually(
    () => foreign.ask(query),
    (now) => Bun.deepEquals(now, rows),
  )
  expect(found).toEqual(rows)
}

test('a database is connected in one dialog, with a reason where it cannot be', async () => {
  const page = await openSignedIn()
  await createBase(page, 'Library')
  await page.getByRole('tab', { name: 'Data sources' }).click()
  await page.getByRole('button', { name: 'Connect a database' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('MySQL / MariaDB').click()
  const { host, port, user, password, database } = foreign.sent.connection
  await dialog.getByLabel('Host').fill(String(host))
  await dialog.getByLabel('Port').fill(String(port))
  await dialog.getByLabel('User').fill(String(user))
  await dialog.getByLabel('Password', { exact: true }).fill('wrong')
  await dialog.getByLabel('Database', { exact: true }).fill(String(database))
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await see(dialog.getByRole('alert').getByText('the password is wrong'))
  await dialog.getByLabel('Password', { exact: true }).fill(String(password))
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await see(dialog.getByText('Connection successful'))
  await dialog.getByRole('button', { name: 'Choose tables' }).click()
  await see(dialog.getByText('7 of 7 selected'))
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await see(dialog.getByText('7 tables were added'))
  await see(dialog.getByText('No primary key, so the table is read-only'))
  await page.keyboard.press('Escape')
  await see(page.getByRole('button', { name: 'Synchronise' }))
  expect(await page.getByRole('switch').count()).toBe(2)
})

test('its records are edited in the grid, and a table without a key says why not', async () => {
  await foreign.ask("update author set name = 'Ann' where id = 1")
  const page = await openSignedIn(`/nc/${baseId}`)
  await page.getByText('author', { exact: true }).first().click()
  await arrivesAt(page, /\/m[a-z0-9]{14}/)
  await see(page.getByText('Ann'))
  // Numbers that JavaScript would round.
  await see(page.getByText('18446744073709551615'))
  await see(page.getByText('9007199254740993'))
  await page.getByText('Ann').click()
  await page.keyboard.type('Anna')
  await page.keyboard.press('Enter')
  await see(page.getByText('Anna'))
  await expectStored('select name from author where id = 1', [{ name: 'Anna' }])
  await page.getByText('log', { exact: true }).first().click()
  await see(page.getByRole('note').getByText('Read only'))
  expect(await page.getByTestId('add-record').count()).toBe(0)
})

test('a record is added under the key that one types', async () => {
  await foreign.ask('delete from country')
  const page = await openSignedIn(`/nc/${baseId}`)
  await page.getByText('country', { exact: true }).first().click()
  await page.getByTestId('add-record').click()
  await page.keyboard.type('fr')
  await page.keyboard.press('Tab')
  await page.keyboard.type('France')
  await page.keyboard.press('Enter')
  await expectStored('select code, name from country', [{ code: 'fr', name: 'France' }])
})

test('a record opens by its address, also with a key that JavaScript would round', async () => {
  const page = await openSignedIn(`/nc/${baseId}`)
  await page.getByText('post', { exact: true }).first().click()
  await see(page.getByText('Long').first())
  await page.evaluate(() => {
    location.hash += '?rowId=9007199254740993'
  })
  await see(page.getByTestId('record-panel').getByRole('heading', { name: 'Long' }))
})

test('what has changed in it is taken over as chosen', async () => {
  await foreign.ask('alter table author drop column if exists born, drop column if exists died')
  const page = await openSignedIn(`/nc/${await connectBase()}`)
  await foreign.ask('alter table author add column born date, add column died date')
  await page.getByRole('tab', { name: 'Data sources' }).click()
  await page.getByRole('button', { name: 'Synchronise' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('New column died').uncheck()
  await dialog.getByRole('button', { name: 'Apply 1 change' }).click()
  await see(dialog.getByText('1 change was applied'))
})

expectNoProblems()

test('deleting says first what the database does with records that refer to it', async () => {
  for (const table of ['chart', 'song', 'genre']) await foreign.ask(`delete from ${table}`)
  await foreign.ask("insert into genre values (1, 'Blues'), (2, 'Jazz')")
  await foreign.ask("insert into song values (1, 'One', 1), (2, 'Two', 1), (3, 'Three', 2)")
  await foreign.ask("insert into chart values (1, 'Top', 3)")
  const page = await openSignedIn(`/nc/${baseId}`)
  await page.getByText('genre', { exact: true }).first().click()
  await page.getByText('Blues').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Delete record' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete 1 record?' })
  await see(dialog.getByText('2 records of “song” are deleted too'))
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await foreign.ask('select id from genre')).toHaveLength(2)
  await page.getByText('Blues').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Delete record' }).click()
  await dialog.getByRole('button', { name: 'Delete record' }).click()
  await see(page.getByText('1 record deleted'))
  expect(await foreign.ask('select id from song')).toEqual([{ id: 3 }])
  await page.getByText('Jazz').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Delete record' }).click()
  await see(page.getByText('1 record of “chart” refers to it'))
  expect(await foreign.ask('select id from genre')).toEqual([{ id: 2 }])
})

test('tables of a connection that is changed while they are read are not offered', async () => {
  const page = await openSignedIn()
  await createBase(page, 'Archive')
  await page.getByRole('tab', { name: 'Data sources' }).click()
  await page.getByRole('button', { name: 'Connect a database' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('MySQL / MariaDB').click()
  const { host, port, user, password, database } = foreign.sent.connection
  await dialog.getByLabel('Host').fill(String(host))
  await dialog.getByLabel('Port').fill(String(port))
  await dialog.getByLabel('User').fill(String(user))
  await dialog.getByLabel('Password', { exact: true }).fill(String(password))
  await dialog.getByLabel('Database', { exact: true }).fill(String(database))
  const isAsked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(/sources\.inspect/, async (route) => {
    const response = await route.fetch()
    isAsked.resolve()
    await released.promise
    await route.fulfill({ response })
  })
  const answered = page.waitForResponse(/sources\.inspect/)
  await dialog.getByRole('button', { name: 'Choose tables' }).click()
  await isAsked.promise
  await dialog.getByLabel('Database', { exact: true }).fill('another')
  released.resolve()
  await (await answered).finished()
  // A test of the connection that is entered now takes longer than the answer takes to be shown.
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await see(dialog.getByRole('alert'))
  expect(await dialog.getByLabel('Database', { exact: true }).inputValue()).toBe('another')
})
