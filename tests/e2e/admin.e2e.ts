import { describe, expect, test } from 'bun:test'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { axeViolations } from '../support/axe.ts'
import { until } from '../support/until.ts'
import { EMAIL, fillCredentials, PASSWORD, route, see, setUpShell } from './shell-page.ts'

const { app, openPage, openSignedIn, expectNoProblems } = setUpShell({ withAccount: true })

const tokenOf = async (): Promise<string> =>
  (await app().rest().post('/api/v1/auth/user/signin', { email: EMAIL, password: PASSWORD })).body.token

/** The server without accounts that another test, or another attempt at this one, has left. */
async function deleteOthers(): Promise<void> {
  const admin = app().rest(await tokenOf())
  for (;;) {
    const { list } = (await admin.get('/api/v1/users')).body
    const others = list.filter(({ email }: { email: string }) => email !== EMAIL)
    if (others.length === 0) return
    for (const { id } of others) {
      const { status } = await admin.delete(`/api/v1/users/${id}`)
      expect(status).toBe(200)
    }
  }
}

describe('the account area of an administrator', () => {
  test('invites someone, changes what they may do, and deletes them', async () => {
    await deleteOthers()
    const page = await openSignedIn('/account/users')
    await page.getByLabel('Invite by email').fill('bob@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await see(page.getByText('#/signup/'))
    const row = page.getByRole('listitem').filter({ hasText: 'bob@example.com' })
    await see(row.getByText('Invited'))
    await row.getByLabel('Role of bob@example.com', { exact: true }).selectOption('org-level-creator')
    await see(page.getByText('bob@example.com: Can create bases'))
    const list = async () =>
      (
        await app()
          .rest(await tokenOf())
          .get('/api/v1/users')
      ).body.list
    expect(
      (await list()).find(({ email }: { email: string }) => email === 'bob@example.com').roles,
    ).toContain('org-level-creator')
    const everywhere = row.getByLabel('Role of bob@example.com in all bases')
    await everywhere.selectOption('workspace-level-editor')
    await see(page.getByText('bob@example.com: All bases: Editor'))
    expect((await list())[1].workspace_roles).toBe('workspace-level-editor')
    await everywhere.selectOption('')
    await see(page.getByText('bob@example.com: All bases: no role'))
    expect((await list())[1].workspace_roles).toBeNull()
    await page.getByLabel('Search by email').fill('nobody-like-this')
    await see(page.getByText('No user matches'))
    await page.getByLabel('Search by email').fill('bob')
    await row.getByRole('button', { name: 'More for bob@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Delete account' }).click()
    await page.getByRole('button', { name: 'Delete account' }).click()
    await see(page.getByText('No user matches'))
    expect(await list()).toHaveLength(1)
  })

  test('sees the page before when the last page has lost its only account', async () => {
    await deleteOthers()
    const admin = app().rest(await tokenOf())
    for (let n = 1; n <= 25; n++) await admin.post('/api/v1/users', { email: `guest${n}@example.com` })
    const page = await openSignedIn('/account/users')
    await page.getByRole('button', { name: 'Next' }).click()
    await see(page.getByText('Page 2 of 2'))
    const users = page.getByRole('list', { name: 'Users' }).getByRole('listitem')
    await users
      .first()
      .getByRole('button', { name: /^More for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Delete account' }).click()
    await page.getByRole('button', { name: 'Delete account' }).click()
    await see(users.nth(24))
  })

  test('keeps deleted bases ticked when asked whether to delete them forever', async () => {
    const trpc = app().trpc(await tokenOf())
    const trash = await trpc.trash.bases.query()
    for (const { base } of trash.bases) await trpc.trash.purgeBase.mutate({ baseId: base.id })
    for (const title of ['Attic', 'Cellar']) {
      const { id } = await trpc.bases.create.mutate({ title })
      await trpc.bases.delete.mutate({ baseId: id })
    }
    const page = await openSignedIn('/trash?kind=base')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Delete forever' }).first().click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await see(page.getByText('2 selected'))
  })

  test('sees people with a role in all bases among the members of a base, without a control for them', async () => {
    await deleteOthers()
    const token = await tokenOf()
    const admin = app().rest(token)
    const base = await app().trpc(token).bases.create.mutate({ title: 'Shelf' })
    for (const name of ['carla', 'dan']) await admin.post('/api/v1/users', { email: `${name}@example.com` })
    const { list } = (await admin.get('/api/v1/users')).body
    const idOf = (name: string) => list.find((one: { email: string }) => one.email.startsWith(name)).id
    await admin.patch(`/api/v1/users/${idOf('carla')}`, { workspace_roles: 'workspace-level-editor' })
    await admin.post(`/api/v2/meta/bases/${base.id}/users`, { email: 'dan@example.com', roles: 'viewer' })

    const page = await openSignedIn(`/nc/${base.id}/auth`)
    await page.setViewportSize({ width: 390, height: 800 })
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: `${name}@example.com` })
    await see(row('carla').getByText('Role in all bases, set by an administrator'))
    await see(row('carla').getByText('Editor'))
    expect(await row('carla').getByRole('button').count()).toBe(0)
    expect(await row('dan').getByRole('button').count()).toBe(2)
    expect(await row('dan').getByText('Role in all bases').count()).toBe(0)
  })

  test('switches sign-up by invitation only on and off', async () => {
    const page = await openSignedIn('/account/settings')
    const info = async () => (await app().trpc().app.info.query()).inviteOnlySignup
    let saved = 0
    page.on('requestfinished', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/app-settings')) saved++
    })
    await page.getByRole('switch').click()
    await until(() => saved === 1)
    expect(await info()).toBe(true)
    await page.reload()
    await page.getByRole('switch', { checked: true }).waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/api/v1/app-settings', async (asked) => {
      if (asked.request().method() === 'POST') await held.promise
      await asked.continue()
    })
    await page.getByRole('switch').focus()
    // The focus stays while a choice is being saved; the last one counts.
    for (const checked of [false, true, false]) {
      await page.keyboard.press('Space')
      await see(page.getByRole('switch', { checked }))
    }
    held.resolve()
    await until(() => saved === 4)
    expect(await info()).toBe(false)
  })

  describe('of a server with INVITE_ONLY_SIGNUP', () => {
    const closed = setUpShell({ withAccount: true, config: { inviteOnlySignup: true } })

    test('sees that sign-up is by invitation only, and what sets it', async () => {
      const page = await closed.openSignedIn('/account/settings')
      await see(page.getByRole('switch', { checked: true, disabled: true }))
      await see(page.getByText('INVITE_ONLY_SIGNUP is set'))
    })
  })

  test('shows the size of each base, whose owner keeps its history for as long as they choose', async () => {
    const page = await openSignedIn('/account/storage')
    await page.getByRole('link', { name: 'Getting started' }).last().click()
    await page.getByRole('tab', { name: 'Storage' }).click()
    await page.getByLabel('Keep history for').selectOption('30')
    await page.getByRole('button', { name: 'Keep for 30 days' }).click()
    await page.waitForFunction(() => document.querySelector('select')?.value === '30')
    await page.getByRole('button', { name: 'Reclaim space' }).click()
    await see(page.getByText(/ reclaimed$/))
    const trpc = app().trpc(await tokenOf())
    const [base] = await trpc.bases.list.query()
    expect(await trpc.storage.base.query({ baseId: base?.id ?? '' })).toMatchObject({ historyDays: 30 })
  })

  test('reads the audit log and filters it', async () => {
    // So that the test can be repeated: it makes entries of a kind that there are none of at first.
    const { meta } = app().kernel
    await meta.db.delete(meta.tables(defineAuthTables).audits)
    const eve = { email: 'eve@example.com', password: 'not the password' }
    await app().rest().post('/api/v1/auth/user/signin', eve)
    const page = await openSignedIn('/account/audit')
    const entries = page.getByRole('list', { name: 'Audit' }).getByRole('listitem')
    await see(entries.filter({ hasText: 'Failed to sign in as eve@example.com' }).getByText('Not signed in'))
    await see(entries.first().getByText('Signed in'))
    await see(entries.first().getByText('127.0.0.1'))
    await page.getByLabel('Kind').selectOption('tokens')
    await see(page.getByRole('heading', { name: 'No entry matches' }))
    expect(route(page)).toBe('/account/audit?kind=tokens')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await see(entries.first())
    await page.getByLabel('Person (email)').fill('nobody')
    await see(page.getByRole('heading', { name: 'No entry matches' }))
    await page.getByLabel('Person (email)').fill(EMAIL)
    await see(entries.first().getByText('Signed in'))
    expect(await entries.filter({ hasText: 'eve@example.com' }).count()).toBe(0)
    await page.route(/activity\.log/, (call) => call.abort())
    await page.getByLabel('Kind').selectOption('sessions')
    await see(page.getByRole('heading', { name: 'The audit log could not be loaded' }))
    await page.unroute(/activity\.log/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await see(entries.first())
    await page.getByRole('button', { name: 'Clear filters' }).click()
    const own = app().rest(await tokenOf())
    for (let n = 0; n < 60; n++) await own.post('/api/v1/tokens', { description: `t${n}` })
    await page.reload()
    await page.getByRole('button', { name: 'Show older' }).click()
    await see(entries.filter({ hasText: 'Failed to sign in as eve@example.com' }))
    expect(await axeViolations(page)).toEqual([])
  })

  test('is one’s own account alone for others', async () => {
    await deleteOthers()
    await app().signUp('eve@example.com')
    const page = await openPage('/account/users')
    await fillCredentials(page, PASSWORD, 'eve@example.com')
    await see(page.getByText('Page not found'))
    await page.goto(`${app().url}/#/account/tokens`)
    await see(page.getByLabel('Expires'))
    const pages = page.getByRole('navigation', { name: 'Account' }).getByRole('link')
    expect(await pages.allInnerTexts()).toEqual(['Profile', 'Password', 'Notifications', 'API tokens'])
    await page.getByLabel('Token name').fill('backup')
    await page.getByLabel('Expires').selectOption('30')
    await page.getByRole('button', { name: 'Create token' }).click()
    await see(page.getByText('Expires on'))
  })

  expectNoProblems()
})
