import { describe, expect, test } from 'bun:test'
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
  tree,
  unused,
} from './shell-page.ts'

const { app, openPage, openSignedIn, expectNoProblems } = setUpShell()

describe('the first user of a server', () => {
  test('is led to sign-up, told what they become, and shown what is missing under each field', async () => {
    const page = await openPage('/nc')
    await arrivesAt(page, /^\/signup/)
    await see(page.getByText('be its administrator'))
    expect(await page.getByLabel('Email').evaluate((input) => input === document.activeElement)).toBe(true)

    await page.keyboard.type('not an address')
    await page.keyboard.press('Enter')
    await see(page.getByText('Enter a valid email address'))
    await see(page.getByText('Choose a password'))
    await page.getByLabel('Password', { exact: true }).fill('short')
    await see(page.getByText('Use at least 8 characters'))

    await fillCredentials(page)
    await signedIn(page)
    expect(route(page)).toStartWith('/nc')
    await page.context().close()
  })
})

describe('someone who is signed in', () => {
  test('finds a view of a table that was not opened, and reads no other tables', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Orchard')
    await createTable(page, 'Trees')
    await createTable(page, 'Tools')
    await createTable(page, 'Beds')
    const idOf = async (title: string) =>
      (await tableLink(page, title).getAttribute('href'))?.split('/').at(-1) ?? ''
    const [tableId, otherId] = [await idOf('Trees'), await idOf('Tools')]
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    await app().trpc(token).views.create.mutate({ tableId, title: 'Harvest plan', kind: 'grid' })
    await tableLink(page, 'Beds').click()
    await page.reload()
    const read: string[] = []
    page.on('request', (request) => read.push(`${request.url()} ${request.postData()}`))
    await page.getByLabel('Search tables and views').fill('harvest')
    await see(tree(page).getByRole('link', { name: 'Harvest plan' }))
    expect(await tree(page).getByRole('link').allTextContents()).toEqual(['Trees', 'Harvest plan'])
    expect(read.filter((call) => call.includes(otherId))).toEqual([])
    await page.getByLabel('Search tables and views').fill('nowhere')
    await see(page.getByText('No tables match “nowhere”'))
    await page.context().close()
  })

  test('sees in a base what others changed there while another base was open', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Vineyard')
    await createTable(page, 'Vines')
    const path = route(page)
    const baseId = path.split('/').find((part) => part.startsWith('p')) ?? ''
    // Connected: what is changed from now on is told.
    const { token } = await app().trpc().auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
    await app().trpc(token).schema.createTable.mutate({ baseId, title: 'Barrels' })
    await see(tableLink(page, 'Barrels'))
    await createBase(page, 'Cellar')
    await app().trpc(token).schema.createTable.mutate({ baseId, title: 'Harvests' })
    await page.evaluate((to) => {
      location.hash = to
    }, path)
    await see(tableLink(page, 'Harvests'))
    await page.context().close()
  })

  test('makes a base and a table, renames it in place and keeps the text when the name is taken', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Reading list')
    await see(page.getByRole('heading', { name: 'No tables yet' }))
    await createTable(page, 'Books')
    await createTable(page, 'Authors')

    await tableLink(page, 'Books').dblclick()
    const input = page.getByLabel('New name')
    await input.fill('Authors')
    await page.keyboard.press('Enter')
    await see(tree(page).getByRole('alert'))
    expect(await input.inputValue()).toBe('Authors')

    await input.fill('Novels')
    await page.keyboard.press('Enter')
    await see(tableLink(page, 'Novels'))
    await page.reload()
    await see(tableLink(page, 'Novels'))
    expect(await tree(page).getByRole('link').allTextContents()).toEqual(['Novels', 'Authors'])
    await page.context().close()
  })

  test('deletes the open table, lands on its base, and Undo brings table and page back', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Cinema')
    await createTable(page, 'Films')
    const opened = route(page)
    await tableLink(page, 'Films').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete table' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete table' }).click()
    await tableLink(page, 'Films').waitFor({ state: 'detached' })
    expect(opened).toStartWith(route(page))
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await see(tableLink(page, 'Films'))
    expect(route(page)).toBe(opened)
    await page.context().close()
  })

  test('types into a dialog as soon as it stands in the page', async () => {
    const page = await openSignedIn()
    const focused = page.evaluate(
      () =>
        new Promise<boolean>((resolve) => {
          new MutationObserver(() => {
            const dialog = document.querySelector('[role=dialog]')
            if (dialog) resolve(dialog.contains(document.activeElement))
          }).observe(document.body, { childList: true })
        }),
    )
    await page.keyboard.press('Alt+d')
    expect(await focused).toBe(true)
    await page.context().close()
  })

  test('sees the new name of a base in the list at once, however late it is read again', async () => {
    const page = await openSignedIn()
    const former = unused('Former')
    const latter = unused('Latter')
    await createBase(page, former)
    await page.keyboard.press('Alt+b')
    await page.getByRole('button', { name: `Options for base ${former}` }).click()
    await page.getByRole('menuitem', { name: 'Edit name and colour' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit name and colour' })
    await dialog.getByLabel('Name').fill(latter)
    await page.route(/\/trpc\/[^?]*bases\.list/, async (route) => {
      await Bun.sleep(5_000)
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: `Options for base ${latter}` }).count()).toBe(1)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().close()
  })

  test('deletes a base, takes it out of the trash, and deletes it forever', async () => {
    const page = await openSignedIn()
    const title = unused('Short-lived')
    await createBase(page, title)
    await page.keyboard.press('Alt+b')
    await page.getByRole('button', { name: `Options for base ${title}` }).click()
    await page.getByRole('menuitem', { name: 'Delete base' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete base' }).click()
    const card = page.getByRole('main').getByRole('link', { name: title })
    await card.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Trash' }).click()
    const trashed = page.getByRole('listitem').filter({ hasText: title })
    await see(trashed.getByText('Deleted forever in 30 days'))
    await trashed.getByRole('button', { name: 'Restore' }).click()
    await page.keyboard.press('Alt+b')
    await see(card)
    await page.getByRole('button', { name: `Options for base ${title}` }).click()
    await page.getByRole('menuitem', { name: 'Delete base' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete base' }).click()
    await card.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Trash' }).click()
    await trashed.getByRole('button', { name: `Delete ${title} forever` }).click()
    const agree = page.getByRole('button', { name: 'Delete forever', exact: true })
    expect(await agree.isDisabled()).toBe(true)
    await page.getByLabel(`Type “${title}” to confirm`).fill(title)
    await agree.click()
    await see(page.getByText('1 item deleted forever'))
    await trashed.waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('sees the tables that others make, and is led away from one that others delete', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Together')
    await createTable(page, 'Mine')
    const other = await openPage(route(page), page.context())
    await see(tableLink(other, 'Mine'))
    // A page in the background is slowed down.
    await page.bringToFront()
    // The socket has joined once a change of the other page arrives here.
    await createTable(page, 'Yours')
    await see(tableLink(other, 'Yours'))
    await tableLink(page, 'Mine').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete table' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete table' }).click()
    await see(other.getByText('Table “Mine” was deleted'))
    expect(route(other)).toMatch(/^\/nc\/p\w+$/)
    await page.context().close()
  })

  test('goes anywhere by the command palette, which gives the focus back', async () => {
    const page = await openSignedIn()
    const title = unused('Far away')
    await createBase(page, title)
    await page.keyboard.press('Alt+b')
    await see(page.getByRole('heading', { name: 'Bases' }))
    await page.getByLabel('Search bases').focus()
    await page.keyboard.press('Control+k')
    await see(page.getByRole('combobox'))
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('Search bases').evaluate((input) => input === document.activeElement)).toBe(
      true,
    )
    await page.keyboard.press('Control+k')
    await page.keyboard.type(title.toLowerCase())
    await see(page.getByRole('option', { name: title }))
    await page.keyboard.press('Enter')
    await see(page.getByRole('heading', { level: 1, name: title }))
    await page.context().close()
  })

  test('starts an import by dropping a file on the base', async () => {
    const page = await openSignedIn()
    await createBase(page, 'Dropped on')
    const dataTransfer = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['Name,Year\nDune,1965\n'], 'novels.csv', { type: 'text/csv' }))
      return transfer
    })
    await page.dispatchEvent('main h1', 'dragover', { dataTransfer })
    await see(page.getByText('Drop to import as a new table'))
    await page.dispatchEvent('main h1', 'drop', { dataTransfer })
    await see(page.getByRole('dialog').getByText('Dune'))
    await page.context().close()
  })

  test('closes one layer per Escape, each giving the focus back', async () => {
    const page = await openSignedIn()
    await see(page.getByRole('main').getByRole('link', { name: 'Getting started' }))
    const opener = page.getByRole('button', { name: 'New base', exact: true })
    await opener.click()
    const dialog = page.getByRole('dialog', { name: 'New base' })
    await see(dialog)
    await page.keyboard.press('Control+k')
    expect(await page.getByRole('combobox').count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true)

    const more = page.getByRole('button', { name: 'Options for base Getting started' })
    await more.focus()
    await page.keyboard.press('Enter')
    await see(page.getByRole('menuitem', { name: 'Delete base' }))
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(await more.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.context().close()
  })

  test('makes a token that works, sees it once, and deletes it', async () => {
    const page = await openSignedIn('/account/tokens')
    await see(page.getByText('No API tokens yet'))
    await page.getByLabel('Token name').fill('Nightly backup')
    await page.keyboard.press('Enter')
    const token = await page.getByRole('note').locator('code').textContent()
    expect(
      (
        await app()
          .rest(token ?? '')
          .get('/api/v1/db/meta/projects/')
      ).status,
    ).toBe(200)
    await page.reload()
    await see(page.getByText('Nightly backup'))
    expect(await page.getByText(token ?? '').count()).toBe(0)
    await page.getByRole('button', { name: 'Delete token Nightly backup' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click()
    await see(page.getByText('No API tokens yet'))
    expect(
      (
        await app()
          .rest(token ?? '')
          .get('/api/v1/db/meta/projects/')
      ).status,
    ).toBe(401)
    await page.context().close()
  })

  test('selects no text of the page with Ctrl+A', async () => {
    const page = await openSignedIn()
    await see(page.getByRole('heading', { name: 'Bases' }))
    await page.getByRole('heading', { name: 'Bases' }).click()
    await page.keyboard.press('ControlOrMeta+a')
    expect(await page.evaluate(() => String(getSelection()))).toBe('')
    await page.context().close()
  })
})

expectNoProblems()
