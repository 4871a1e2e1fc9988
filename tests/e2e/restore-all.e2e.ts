import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { endedJob, fill, openPlace, type Place, settingsOf } from '../backups/support.ts'
import { PASSWORD } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { createTrpcClient } from '../support/client.ts'
import { findFreePort } from '../support/free-port.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { see } from './shell-page.ts'

/** A backup is restored at the lowest priority, beside other tests. */
const RESTORED_MS = 240_000

let place: Place
let url: string
let own: Awaited<ReturnType<typeof fill>>
let browser: Browser
const problems: string[] = []

beforeAll(async () => {
  place = openPlace({ NODE_ENV: 'production' })
  const port = String(await findFreePort())
  const [server, shared] = await Promise.all([place.start(place.dataDir, { PORT: port }), shareBrowser()])
  browser = shared
  url = server.url
  own = await fill(url, 5)
  await own.trpc.backups.save.mutate({
    ...settingsOf(place.backups),
    passphrase: 'sixteen letters or more',
  })
  await endedJob(own.trpc, (await own.trpc.backups.run.mutate()).jobId)
})
afterAll(async () => {
  await closeContexts(browser)
  await place?.remove()
})

/** A page of a browser of its own with a session. */
async function openAs(token: string, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.on('weberror', (error) => problems.push(error.error().message))
  const page = await context.newPage()
  // A page of the same address without the app: it stores the session once, not at each load.
  await page.goto(`${url}/api/v1/version`)
  await page.evaluate((session) => localStorage.setItem('sheaf.token', session), token)
  const connected = page.waitForEvent('websocket')
  await page.goto(`${url}/#${path}`)
  // With all parts of the app, and live updates: this server restarts within a second.
  await connected
  await page.waitForLoadState('networkidle')
  return page
}

test(
  'a super admin restores everything, and all browsers show the restored data or ask to sign in',
  async () => {
    const table = `/nc/${own.baseId}/${own.tableId}`
    await own.rest.post(own.path, { Name: 'After the backup' })
    const later = await createTrpcClient(url).auth.signUp.mutate({
      email: 'b@example.com',
      password: PASSWORD,
    })
    const reader = await openAs(own.token, table)
    await see(reader.getByRole('gridcell', { name: 'After the backup' }))
    const stranger = await openAs(later.token, '/')
    await see(stranger.getByRole('button', { name: 'Account menu' }))

    const admin = await openAs(own.token, '/account/backups')
    await admin.getByRole('button', { name: /^Restore from the backup of / }).click()
    await admin.getByRole('menuitem', { name: 'Restore everything…' }).click()
    const dialog = admin.getByRole('dialog', { name: 'Restore everything' })
    const confirm = dialog.getByRole('button', { name: 'Restore everything' })
    await see(dialog.getByText('replaces all data of this server'))
    expect(await confirm.isDisabled()).toBe(true)
    expect(await axeViolations(admin)).toEqual([])
    await dialog.getByRole('textbox').fill('elsewhere')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(new URL(url).host)
    const loaded = (page: Page) => page.waitForEvent('load', { timeout: RESTORED_MS })
    const reloads = Promise.all([loaded(reader), loaded(admin)])
    await confirm.click()
    await see(admin.getByText(/^Everything is being restored/))

    await reloads
    await see(reader.getByRole('gridcell', { name: 'Order 4' }))
    expect(await reader.getByRole('gridcell', { name: 'After the backup' }).count()).toBe(0)
    await stranger.waitForURL(/#\/signin/)
    await see(stranger.getByLabel('Password', { exact: true }))
    await see(admin.getByText(/^On .+, everything was restored from the backup of .+, as a@example\.com/))
    await see(admin.getByText(`The former data are in ${place.dataDir}/replaced-`))
    await see(admin.getByRole('button', { name: 'Back up now', disabled: false }))
    expect(await axeViolations(admin)).toEqual([])
    await admin.goto(`${url}/#/account/audit`)
    await see(admin.getByText(/^Restored everything from the backup of .+, as a@example\.com had asked/))
    expect(problems).toEqual([])
  },
  RESTORED_MS,
)
