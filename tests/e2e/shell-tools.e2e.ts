import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
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

const { app, openBrowser, openPage, openSignedIn, expectNoProblems } = setUpShell({ withAccount: true })

/** The keys typed after this are the palette's. */
async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await see(page.getByRole('combobox'))
}

describe('someone who is signed in', () => {
  test('is told of a path that leads nowhere, and led on from those that stand for another', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Paths')
    const base = route(page)
    const nowhere = ['/nc/nowhere/abc', `${base}/sql`, '/nc/cowriter/p1/a/b', '/profile/bob', '/account/x']
    for (const path of nowhere) {
      await page.goto(`${app().url}/dashboard#${path}`)
      await see(page.getByText(`Page not found: ${path}`))
    }
    await page.getByRole('button', { name: 'Go to your bases' }).click()
    await see(page.getByRole('heading', { name: 'Bases' }))
    for (const [path, end] of [
      ['/profile', /^\/account\/profile$/],
      ['/account/users/list', /^\/account\/users$/],
      ['/signIn', /^\/$/],
      ['/forgot-password', /^\/$/],
    ] as const) {
      await page.goto(`${app().url}/dashboard#${path}`)
      await arrivesAt(page, end)
    }
    // A page of one's own is not taken for a base, also where the app begins with it.
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${app().url}/dashboard?again#/account/profile`)
    await see(page.getByRole('heading', { name: 'Profile' }))
    expect(asked.filter((url) => url.includes('bases.get'))).toEqual([])
    await page.goto(`${app().url}/dashboard#${base}/auth`)
    await see(page.getByRole('tab', { name: 'Members', selected: true }))
    await page.getByRole('tab', { name: 'Data sources' }).click()
    await arrivesAt(page, /\?tab=sources$/)
    await page.goBack()
    await see(page.getByRole('tab', { name: 'Members', selected: true }))
    // The tabs are one stop of the Tab key, and arrows go along them in the direction of the page.
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await page.getByRole('tab', { name: 'Members' }).focus()
    const walked: unknown[] = []
    for (const key of ['ArrowRight', 'End', 'ArrowRight', 'ArrowLeft', 'Home']) {
      await page.keyboard.press(key)
      walked.push(await focused())
    }
    expect(walked).toEqual(['Data sources', 'Storage', 'Overview', 'Storage', 'Overview'])
    await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
    await page.keyboard.press('ArrowLeft')
    expect(await focused()).toBe('Members')
    await page.evaluate(() => document.documentElement.setAttribute('dir', 'ltr'))
    await see(page.getByRole('tabpanel', { name: 'Members' }))
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search')
    // There one invites: what is no address stays in the field, and who has no account gets a link.
    await page.getByRole('button', { name: 'Invite people' }).click()
    await see(page.getByText('Can also comment on records'))
    const addresses = page.getByLabel('Email addresses')
    await addresses.fill('grace@example.com; nope')
    await addresses.press('Tab')
    await page.keyboard.press('Enter')
    await see(page.getByText('Invalid email address: nope'))
    await addresses.fill('grace@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await see(page.getByRole('region', { name: 'Invitation links' }).getByText('grace@example.com'))
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Role of grace@example.com: Editor' }).click()
    await page.getByRole('menuitemradio', { name: 'Viewer' }).click()
    await page.getByRole('button', { name: 'Role of grace@example.com: Viewer' }).waitFor()
    await page.getByRole('button', { name: 'Options for grace@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Remove from base' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('button', { name: 'Options for grace@example.com' }).waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('finds records, what the screen can do, and the views of before by the palette', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Garden')
    await createTable(page, 'Beds')
    await createTable(page, 'Plants')
    const api = app().trpc(
      (await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })).token,
    )
    const [, , baseId = ''] = route(page).split('/')
    const plants = (await api.schema.tables.query({ baseId })).find(({ title }) => title === 'Plants')
    const tableId = plants?.id ?? ''
    const { fields } = await api.schema.table.query({ tableId })
    const name = fields.find(({ isDisplay }) => isDisplay)?.id ?? ''
    await api.records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId, rows: [{ values: { [name]: 'Blue sage' } }] }],
      },
    })

    await openPalette(page)
    await page.keyboard.type('sage')
    await see(page.getByRole('option', { name: 'Blue sage Plants' }))
    await page.keyboard.press('Enter')
    await see(page.getByTestId('record-panel'))
    await page.keyboard.press('Escape')

    // A record whose note shows the text, with the text around it.
    await api.schema.createField.mutate({ tableId, field: { title: 'Care', type: 'LongText' } })
    const { fields: all } = await api.schema.table.query({ tableId })
    const care = all.find(({ title }) => title === 'Care')?.id ?? ''
    const note = `${'Likes the sun. '.repeat(8)}Cut it back in FEBRUARY, above the lowest buds.`
    await api.records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId, rows: [{ values: { [name]: 'Lavender', [care]: note } }] }],
      },
    })
    await openPalette(page)
    await page.keyboard.type('back in feb')
    const byNote = page.getByRole('option', { name: /^Lavender ?Plants.*Cut it back in FEBRUARY/ })
    await see(byNote)
    expect(await byNote.locator('mark').textContent()).toBe('back in FEB')
    await page.keyboard.press('Enter')
    await see(page.getByTestId('record-panel').getByText('Lavender').first())
    await page.keyboard.press('Escape')

    // The API's own page opens for whoever is signed in, without a word of theirs.
    const [docs] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Control+j')])
    await see(docs.getByRole('heading', { name: 'Garden' }).or(docs.getByText('Plants').first()).first())
    await docs.close()

    await openPalette(page)
    await page.keyboard.type('group by')
    await see(page.getByRole('option', { name: 'Group by…', selected: true }))
    await page.keyboard.press('Enter')
    await see(page.getByRole('dialog', { name: 'Group' }))
    await page.keyboard.press('Escape')
    await openPalette(page)
    for (const action of ['Filter…', 'Sort by…', 'Show or hide fields', 'Download', 'Share', 'New record']) {
      await page.getByRole('combobox').fill(action.replace('…', ''))
      await see(page.getByRole('option', { name: action }).first())
    }
    await page.keyboard.press('Escape')

    await tableLink(page, 'Beds').click()
    await arrivesAt(page, new RegExp(`/${baseId}/(?!${tableId})m`))
    await see(page.getByRole('grid'))
    await page.keyboard.press('Control+l')
    await see(page.getByRole('option', { name: 'Plants Plants · Garden' }))
    await page.keyboard.press('Enter')
    await arrivesAt(page, new RegExp(tableId))

    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await see(sheet.getByText('Recent views'))
    await see(sheet.getByRole('heading', { name: 'Grid', exact: true }))
    await page.context().close()
  })

  test('finds the tables of the open base by the palette, however many bases were visited', async () => {
    const page = await openSignedIn()
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const ids: string[] = []
    for (let n = 1; n <= 9; n++)
      ids.push(
        (
          await app()
            .trpc(token)
            .bases.create.mutate({ title: `Visited ${n}` })
        ).id,
      )
    await page.evaluate(
      (places) => localStorage.setItem('sheaf.lastPlaces', places),
      JSON.stringify(ids.map((baseId) => ({ baseId }))),
    )
    await page.goto(`${app().url}/#/nc/${ids.at(-1)}`)
    await page.reload()
    await see(page.getByRole('heading', { level: 1, name: 'Visited 9' }))
    await createTable(page, 'Needle')
    await openPalette(page)
    await page.keyboard.type('needle')
    await see(page.getByRole('option', { name: 'Needle', exact: true }))
    await page.context().close()
  })

  test('opens links and entries of the palette that name a view without reading every table of the base', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Views')
    const [, , baseId = ''] = route(page).split('/')
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    const api = app().trpc(token)
    const made: { tableId: string; viewId: string }[] = []
    for (const title of ['Beds', 'Plants', 'Tools', 'Seeds', 'Pots', 'Paths', 'Trees', 'Bulbs']) {
      const { table } = await api.schema.createTable.mutate({ baseId, title })
      const view = await api.views.create.mutate({
        tableId: table.id,
        title: `Wide ${title}`,
        kind: 'grid',
      })
      made.push({ tableId: table.id, viewId: view.id })
    }
    const [beds, plants, ...others] = made
    const read = new Set<string>()
    page.on('request', (request) => {
      const asked = `${decodeURIComponent(request.url())} ${request.postData() ?? ''}`
      if (!asked.includes('schema.table')) return
      for (const { tableId } of others) if (asked.includes(tableId)) read.add(tableId)
    })
    await page.goto(`${app().url}/?again#/nc/${baseId}/${plants?.viewId}`)
    await arrivesAt(page, new RegExp(`${plants?.tableId}/${plants?.viewId}`))
    await see(page.getByRole('grid'))
    await openPalette(page)
    await page.keyboard.type('wide beds')
    await see(page.getByRole('option', { name: 'Wide Beds' }))
    await page.keyboard.press('Enter')
    await arrivesAt(page, new RegExp(`${beds?.tableId}/${beds?.viewId}`))
    await see(page.getByRole('grid'))
    // The screen before may still have opened one of them.
    expect(read.size).toBeLessThan(2)
    await openPalette(page)
    await page.keyboard.type('tall')
    await see(page.getByText('No results for'))
    await api.views.create.mutate({ tableId: plants?.tableId ?? '', title: 'Tall Plants', kind: 'grid' })
    await see(page.getByRole('option', { name: 'Tall Plants' }))
    await page.keyboard.press('Escape')
    // A lost connection says nothing about the view.
    const titles = '**/trpc/*views.titles*'
    await page.route(titles, (asked) => asked.abort('connectionrefused'))
    await page.evaluate((id) => {
      location.hash = `#/nc/${id}/vwaaaaaaaaaaaaaa`
    }, baseId)
    await see(page.getByText('The server can’t be reached'))
    await page.unroute(titles)
    await page.getByRole('button', { name: 'Try again' }).click()
    await see(page.getByText('It may have been deleted'))
    await page.context().close()
  })

  test('gives a base its colours, which are gone in the next and come back for those who are sent its links', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Colourful')
    const base = route(page)
    const colors = (one = page) =>
      one.evaluate(() =>
        ['--color-primary', '--color-on-primary', '--color-accent'].map((name) =>
          getComputedStyle(document.documentElement).getPropertyValue(name).trim().toLowerCase(),
        ),
      )
    const usual = await colors()
    await page.getByRole('button', { name: 'Options for base Colourful' }).click()
    await page.getByRole('menuitem', { name: 'Edit name and colour' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit name and colour' })
    await dialog.getByRole('group', { name: 'Primary colour' }).getByLabel('Custom colour').fill('#d97706')
    await dialog.getByRole('group', { name: 'Secondary colour' }).getByLabel('Custom colour').fill('#0b7a75')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const own = ['#d97706', '#1d2433', '#0b7a75']
    expect(await colors()).toEqual(own)
    await page.reload()
    await see(page.getByRole('heading', { level: 1, name: 'Colourful' }))
    expect(await colors()).toEqual(own)
    await page.keyboard.press('Alt+b')
    await see(page.getByRole('heading', { name: 'Bases' }))
    expect(await colors()).toEqual(usual)

    const api = app().trpc(
      (await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })).token,
    )
    const baseId = base.split('/')[2] ?? ''
    const share = await api.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
    const visitor = await (await openBrowser()).newPage()
    await visitor.goto(`${app().url}/shared#/base/base/${share.id}`)
    await see(visitor.getByText('This base has no tables.'))
    expect(await colors(visitor)).toEqual(own)

    // What another program wrote and is no colour gives way to the product's own.
    const theme = { primaryColor: 'url(x)', accentColor: '#abc' }
    await api.bases.update.mutate({ baseId, meta: { theme } })
    await page.goto(`${app().url}/dashboard#${base}`)
    await page.reload()
    await page.waitForFunction(
      () => getComputedStyle(document.documentElement).getPropertyValue('--color-accent') !== '#ec4899',
    )
    expect((await colors())[0]).toBe(usual[0] ?? '')
    await visitor.context().close()
    await page.context().close()
  })

  test('is offered the new version once the server has one, and keeps the page when others move its elements', async () => {
    const context = await openBrowser()
    const page = await openPage('/', context)
    await fillCredentials(page)
    await signedIn(page)
    await page.clock.install()
    await page.reload()
    await signedIn(page)
    await page.clock.fastForward('01:01:00')
    // The same build: nothing to say.
    expect(await page.getByText('A new version of Sheaf is available.').count()).toBe(0)
    await page.evaluate(() => document.querySelector('meta[name="build"]')?.setAttribute('content', 'older'))
    const offer = page.getByText('A new version of Sheaf is available.')
    // The checks begin after the first content, so the first hour may pass without one.
    for (let hours = 0; hours < 20 && !(await offer.isVisible()); hours++) {
      await page.clock.fastForward('01:01:00')
      await Bun.sleep(200)
    }
    await see(offer)
    await page.getByRole('button', { name: 'Reload', exact: true }).click()
    await page.getByText('A new version of Sheaf is available.').waitFor({ state: 'detached' })
    await signedIn(page)

    // A translator takes out what React will want to remove.
    await see(page.getByRole('heading', { name: 'Bases' }))
    await page.evaluate(() => document.querySelector('main > *')?.remove())
    await page.evaluate(() => {
      location.hash = '/account/profile'
    })
    await see(page.getByRole('heading', { name: 'Profile' }))
    await context.close()
  })
})

expectNoProblems()
