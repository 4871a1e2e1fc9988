import { describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import {
  arrivesAt,
  createBase,
  createTable,
  EMAIL,
  fillCredentials,
  PASSWORD,
  route,
  see,
  setUpShell,
  signedIn,
  tableLink,
} from './shell-page.ts'

const { app, openPage, openSignedIn, expectNoProblems } = setUpShell({ withAccount: true })

test('a first visit ends at the sign-in page, without an error in the console', async () => {
  const page = await openPage('/')
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.reload()
  await arrivesAt(page, /^\/signin/)
  await see(page.getByLabel('Password', { exact: true }))
  await page.waitForLoadState('networkidle')
  expect(problems).toEqual([])
  await page.context().close()
})

describe('signing in', () => {
  test('goes on to the page that was asked for', async () => {
    const page = await openPage('/account/password')
    await arrivesAt(page, /^\/signin\?continueAfterSignIn=%2Faccount%2Fpassword$/)
    await fillCredentials(page)
    await arrivesAt(page, /^\/account\/password$/)
    await page.context().close()
  })

  test('works with the password that a reset link has set, once', async () => {
    const user = await app().signUp('grace@example.com')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const link = await app().rest(token).post(`/api/v1/users/${user.id}/generate-reset-url`)
    const page = await openPage(new URL(link.body.reset_password_url).hash.slice(1))
    await page.getByLabel('New password').fill('x'.repeat(300))
    await page.keyboard.press('Enter')
    await see(page.getByText('must NOT have more than 256 characters'))
    await page.getByLabel('New password').fill('another good one')
    await page.keyboard.press('Enter')
    await arrivesAt(page, /^\/signin$/)
    await fillCredentials(page, 'another good one', user.email)
    await see(page.getByText('No bases yet'))

    const late = await openPage(new URL(link.body.reset_password_url).hash.slice(1))
    await late.getByLabel('New password').fill('a third good one')
    await late.keyboard.press('Enter')
    await see(late.getByText('This link has expired or was already used'))
    await page.context().close()
    await late.context().close()
  })

  test.each(['kept', 'revoked'] as const)(
    'a new password leaves API tokens %s, as one chooses',
    async (fate) => {
      const user = await app().signUp(`mira-${fate}@example.com`)
      const api = app().rest(user.token)
      const tokens: string[] = []
      for (const description of ['Nightly backup', 'Dashboard'])
        tokens.push((await api.post('/api/v1/tokens', { description })).body.token)
      const statuses = () =>
        Promise.all(
          tokens.map(async (token) => (await app().rest(token).get('/api/v1/db/meta/projects/')).status),
        )
      expect(await statuses()).toEqual([200, 200])
      const page = await openPage('/account/password')
      await fillCredentials(page, PASSWORD, user.email)
      const revokes = page.getByRole('switch', { name: 'Revoke my API tokens' })
      await see(page.getByText('Otherwise these tokens stay active: Dashboard, Nightly backup'))
      expect(await revokes.isChecked()).toBe(false)
      if (fate === 'revoked') await revokes.click()
      await page.getByLabel('Current password').fill(PASSWORD)
      await page.getByLabel('New password').fill('a second good one')
      await page.getByRole('button', { name: 'Change password' }).click()
      await see(page.getByText('Password changed'))
      expect(await statuses()).toEqual(fate === 'revoked' ? [401, 401] : [200, 200])
      if (fate === 'revoked') await revokes.waitFor({ state: 'detached' })

      // The same by a reset link, for tokens that are left or new.
      const fresh = (
        await app().trpc().auth.signIn.mutate({ email: user.email, password: 'a second good one' })
      ).token
      if (fate === 'revoked')
        tokens.splice(
          0,
          2,
          (await app().rest(fresh).post('/api/v1/tokens', { description: 'Third' })).body.token,
        )
      const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
      const link = await app().rest(token).post(`/api/v1/users/${user.id}/generate-reset-url`)
      await page.goto('about:blank')
      await page.goto(`${app().url}/${new URL(link.body.reset_password_url).hash}`)
      await see(
        page.getByText(fate === 'revoked' ? 'stay active: Third' : 'stay active: Dashboard, Nightly backup'),
      )
      expect(await revokes.isChecked()).toBe(false)
      if (fate === 'revoked') await revokes.click()
      await page.getByLabel('New password').fill('a third good one')
      await page.getByRole('button', { name: 'Set password' }).click()
      await see(page.getByText('Sign in with your new password'))
      expect(await statuses()).toEqual(fate === 'revoked' ? [401] : [200, 200])
      await page.context().close()
    },
  )

  test('gives no way into a base that is for others: who tries is told, and led to their own', async () => {
    const guest = await app().signUp('guest@example.com')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const base = await app().trpc(token).bases.create.mutate({ title: 'For others' })
    const page = await openPage(`/nc/${base.id}`)
    await fillCredentials(page, PASSWORD, guest.email)
    await see(page.getByText('You don’t have permission to open this base.'))
    await arrivesAt(page, /^\/$/)
    await app().services.auth.access.setMembership(base.id, guest.id, 'no-access')
    // From another page: within the app the address alone changes, and who is told is led away at once.
    await page.goto('about:blank')
    await page.goto(`${app().url}/dashboard#/nc/${base.id}`)
    await see(page.getByText('You don’t have permission to open this base.'))
    await arrivesAt(page, /^\/$/)
    await page.goto(`${app().url}/dashboard#/nc/p00000000000000`)
    await see(page.getByRole('heading', { name: 'This base can’t be opened' }))
    await page.context().close()
  })

  test('never leads out of the app', async () => {
    for (const evil of ['//evil.example', 'https://evil.example', 'javascript:alert(1)', '/\\evil.example']) {
      const page = await openPage(`/signin?continueAfterSignIn=${encodeURIComponent(evil)}`)
      await fillCredentials(page)
      await see(page.getByRole('heading', { name: 'Bases' }))
      expect(new URL(page.url()).origin).toBe(app().url)
      expect(route(page)).toBe('/')
      await page.context().close()
    }
  })

  test('names a wrong password, keeps what was typed, and says when to try again after too many', async () => {
    const page = await openPage('/signin')
    // The server counts by address and place, so an address of nobody keeps the others out of it.
    await fillCredentials(page, 'wrong', 'nobody@example.com')
    await see(page.getByText('Incorrect email or password.'))
    expect(await page.getByLabel('Email').inputValue()).toBe('nobody@example.com')
    const throttled = page.getByText('Too many failed attempts. Try again in')
    for (let attempt = 0; attempt < 20 && !(await throttled.isVisible()); attempt++) {
      const answered = page.waitForResponse((response) => response.url().includes('auth.signIn'))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await answered
      await page.locator('form [aria-busy]').waitFor({ state: 'detached' })
    }
    await see(throttled)
    await page.context().close()
  })
})

describe('the end of a session', () => {
  test('by signing out reaches the other tabs, and signing in again brings them back', async () => {
    const page = await openSignedIn('/account/profile')
    const other = await openPage('/account/password', page.context())
    await see(other.getByRole('heading', { name: 'Password' }))
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await arrivesAt(page, /^\/signin$/)
    await arrivesAt(other, /^\/signin\?continueAfterSignIn=%2Faccount%2Fpassword$/)
    await fillCredentials(page)
    await arrivesAt(other, /^\/account\/password$/)
    await page.context().close()
  })

  test('in another tab leaves a page that needs no session as it is', async () => {
    const user = await app().signUp('resets@example.com')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const link = await app().rest(token).post(`/api/v1/users/${user.id}/generate-reset-url`)
    const page = await openSignedIn('/account/profile')
    const other = await openPage(new URL(link.body.reset_password_url).hash.slice(1), page.context())
    await other.getByLabel('New password').fill('a password from a manager')
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await arrivesAt(page, /^\/signin$/)
    expect(await other.getByLabel('New password').inputValue()).toBe('a password from a manager')
    await other.keyboard.press('Enter')
    await see(other.getByText('Sign in with your new password'))
    await page.context().close()
  })

  test('by `?logout` in the address is one for the server too, and leads round in no circle', async () => {
    const page = await openSignedIn()
    const token = await page.evaluate(() => localStorage.getItem('sheaf.token'))
    await page.goto(`${app().url}/dashboard#/account/profile?logout=true`)
    await arrivesAt(page, /^\/signin$/)
    expect(
      (
        await app()
          .rest(token ?? '')
          .get('/api/v1/auth/user/me')
      ).body.roles,
    ).toEqual({ guest: true })
    await fillCredentials(page)
    await see(page.getByRole('heading', { name: 'Bases' }))
    await page.context().close()
  })

  test.each(['button', 'address'] as const)(
    'without a connection, by %s, ends it before the cookie could let anybody in',
    async (way) => {
      const page = await openSignedIn('/account/profile')
      await page.route('**/trpc/auth.signOut*', (route) => route.abort())
      if (way === 'button') {
        await page.getByRole('button', { name: 'Account menu' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
      } else await page.goto(`${app().url}/dashboard#/account/profile?logout=true`)
      await arrivesAt(page, /^\/signin$/)
      await page.unroute('**/trpc/auth.signOut*')
      const next = await openPage('/account/profile', page.context())
      await arrivesAt(next, /^\/signin\?continueAfterSignIn=%2Faccount%2Fprofile$/)
      // It ends no later session.
      await fillCredentials(next)
      await arrivesAt(next, /^\/account\/profile$/)
      await next.evaluate(() => localStorage.removeItem('sheaf.token'))
      await next.reload()
      await signedIn(next)
      await page.context().close()
    },
  )

  test('by `?logout` reaches a session whose access token has expired', async () => {
    const page = await openSignedIn('/account/profile')
    await page.evaluate(() => localStorage.removeItem('sheaf.token'))
    await page.goto('about:blank')
    await page.goto(`${app().url}/dashboard#/account/profile?logout=true`)
    await arrivesAt(page, /^\/signin$/)
    const next = await openPage('/account/profile', page.context())
    await arrivesAt(next, /^\/signin\?continueAfterSignIn=%2Faccount%2Fprofile$/)
    await page.context().close()
  })

  test('elsewhere leaves the page as it is, asks to sign in over it, and sends what was waiting', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Kept')
    await page.keyboard.press('Alt+t')
    await see(page.getByRole('dialog', { name: 'New table' }))
    await page.keyboard.type('Typed before')
    // Another device signs the person out everywhere.
    const elsewhere = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    await app().trpc(elsewhere.token).auth.signOut.mutate()

    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'You’ve been signed out' })
    await see(dialog)
    expect(await dialog.getByLabel('Email').inputValue()).toBe(EMAIL)
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await see(tableLink(page, 'Typed before'))
    await page.context().close()
  })

  test('in the middle of a word waits until nobody is typing', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Typed in')
    await createTable(page, 'Notes')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const ada = app().trpc(token)
    const baseId = (await ada.bases.list.query()).find(({ title }) => title === 'Typed in')?.id ?? ''
    const [table] = await ada.schema.tables.query({ baseId })
    const records = `/api/v2/tables/${table?.id}/records`
    await app()
      .rest(token)
      .post(records, [{ Title: 'a' }, { Title: 'b' }])
    await tableLink(page, 'Notes').click()
    await page.getByRole('gridcell', { name: 'a', exact: true }).click()
    await ada.auth.signOut.mutate()
    await page.keyboard.type('First')
    const refused = page.waitForResponse((response) => response.status() === 401)
    await page.keyboard.press('Enter')
    await refused
    await page.keyboard.type('The second one', { delay: 150 })

    const dialog = page.getByRole('dialog', { name: 'You’ve been signed out' })
    await see(dialog)
    const password = dialog.getByLabel('Password', { exact: true })
    expect(await password.inputValue()).toBe('')
    const released = Promise.withResolvers<void>()
    let attempts = 0
    await page.route('**/trpc/auth.signIn*', async (asked) => {
      attempts++
      await released.promise
      await asked.continue()
    })
    await password.fill(PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.locator('button[aria-busy]').waitFor()
    // Enter in the field of a form whose button is busy.
    await password.press('Enter')
    released.resolve()
    await dialog.waitFor({ state: 'detached' })
    expect(attempts).toBe(1)
    const again = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const titles = async (): Promise<string[]> =>
      (await app().rest(again.token).get(records)).body.list.map(({ Title }: { Title: string }) => Title)
    await until(async () => Bun.deepEquals(await titles(), ['First', 'The second one']))
    await page.context().close()
  })

  test('and another person’s sign-in send nothing of the one before, and load every tab for the other', async () => {
    const other = await app().signUp()
    const page = await openSignedIn()
    await createBase(page, 'Of both')
    await createTable(page, 'Notes')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const ada = app().trpc(token)
    const baseId = (await ada.bases.list.query()).find(({ title }) => title === 'Of both')?.id ?? ''
    await app().services.auth.access.setMembership(baseId, other.id, 'creator')
    const idle = await openPage('/account/profile', page.context())
    await signedIn(idle)
    await tableLink(page, 'Notes').click()
    await page.getByRole('gridcell').first().click()
    await ada.auth.signOut.mutate()
    await page.keyboard.type('Of Ada')
    await page.keyboard.press('Enter')

    const dialog = page.getByRole('dialog', { name: 'You’ve been signed out' })
    await see(dialog)
    const questions: string[] = []
    page.on('dialog', (question) => {
      questions.push(question.type())
      void question.accept()
    })
    const loaded = [page, idle].map((each) => each.waitForEvent('load'))
    await fillCredentials(page, PASSWORD, other.email)
    await Promise.all(loaded)
    for (const each of [page, idle])
      await see(each.getByRole('button', { name: 'Account menu' }).getByText('P', { exact: true }))
    expect(questions).toEqual([])
    const [table] = await app().trpc(other.token).schema.tables.query({ baseId })
    const { body } = await app().rest(other.token).get(`/api/v2/tables/${table?.id}/records`)
    expect(body.list).toEqual([])
    await page.context().close()
  })
})

expectNoProblems()
