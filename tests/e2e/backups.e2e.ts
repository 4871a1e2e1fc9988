import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineBackupsTables } from '../../modules/backups/tables.ts'
import { axeViolations } from '../support/axe.ts'
import { EMAIL, PASSWORD, see, setUpShell } from './shell-page.ts'

const { app, openSignedIn, expectNoProblems } = setUpShell({ withAccount: true })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-e2e-backups-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the backups of an administrator', () => {
  test('are set up, made, tested and listed', async () => {
    // So that the test can be repeated.
    const { meta } = app().kernel
    await meta.db.delete(meta.tables(defineBackupsTables).backupSettings)
    rmSync(join(folder, 'backups'), { recursive: true, force: true })
    const account = { email: EMAIL, password: PASSWORD }
    const trpc = app().trpc((await app().rest().post('/api/v1/auth/user/signin', account)).body.token)
    for (const { id, title } of await trpc.bases.list.query()) {
      if (!['Brought back', 'Of another time', 'To rewind'].includes(title)) continue
      await trpc.bases.delete.mutate({ baseId: id })
      await trpc.trash.purgeBase.mutate({ baseId: id })
    }

    const { id: baseId } = await trpc.bases.create.mutate({ title: 'To rewind' })
    const { table } = await trpc.schema.createTable.mutate({ baseId, title: 'Gone for good' })

    const page = await openSignedIn('/account/backups')
    await see(page.getByRole('heading', { name: 'Backups are not set up' }))
    await page.getByRole('button', { name: 'Set up backups' }).click()
    const dialog = page.getByRole('dialog', { name: 'Backup settings' })
    await dialog.getByRole('textbox', { name: 'Place' }).fill('ftp://host/backups')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await see(dialog.getByRole('alert').getByText('is not a place for backups'))
    await dialog.getByRole('textbox', { name: 'Place' }).fill(join(folder, 'backups'))
    await page.mouse.click(5, 5)
    await dialog.getByLabel('Schedule').selectOption('hourly')
    await see(dialog.getByText('Every hour, 00 minutes past'))
    await dialog.getByLabel('Time', { exact: true }).fill('')
    await dialog.getByText('Every hour,').waitFor({ state: 'detached' })
    await dialog.getByLabel('Time', { exact: true }).fill('03:00')
    await dialog.getByLabel('Schedule').selectOption('weekly')
    await dialog.getByLabel('Day', { exact: true }).selectOption('0')
    await dialog.getByRole('checkbox', { name: 'Copy attached files that are in buckets' }).uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await see(page.getByRole('heading', { name: 'No backups yet' }))
    await page.getByRole('button', { name: 'Backup settings' }).click()
    const copies = dialog.getByRole('checkbox', { name: 'Copy attached files that are in buckets' })
    expect(await copies.isChecked()).toBe(false)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Back up now' }).click()
    const row = page.getByRole('row', { name: /Manual/ })
    await see(row.getByText('Restored and checked'))
    // The list scrolls sideways in a narrow window, but not the page.
    await page.setViewportSize({ width: 390, height: 800 })
    await page.waitForFunction(() => {
      const main = document.querySelector('main')
      return innerWidth === 390 && main !== null && main.scrollWidth === main.clientWidth
    })
    await page.setViewportSize({ width: 1280, height: 800 })
    await see(page.getByRole('button', { name: 'Back up now', disabled: false }))
    await row.getByRole('button', { name: /^Restore from the backup of / }).click()
    // The server of these tests shares its process with them.
    const everything = page.getByRole('menuitem', { name: 'Restore everything…' })
    expect(await everything.getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('menuitem', { name: 'Restore a base…' }).click()
    const restore = page.getByRole('dialog', { name: 'Restore a base' })
    expect(await axeViolations(page)).toEqual([])
    await restore.getByRole('textbox', { name: 'Title of the new base' }).fill('Brought back')
    await restore.getByRole('button', { name: 'Restore as new base' }).click()
    await see(page.getByText('“Brought back” was restored'))
    expect(page.url()).not.toContain('/account/')
    await page.goBack()
    await page.getByRole('button', { name: 'Restore a base to a time…' }).click()
    const rewind = page.getByRole('dialog', { name: 'Restore a base to a time' })
    await rewind.getByLabel('Time', { exact: true }).fill('2200-01-01T00:00:00')
    await see(rewind.getByText('Choose a time in the past'))
    const now = await page.evaluate(() => {
      const at = new Date()
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
    })
    await trpc.schema.deleteTable.mutate({ tableId: table.id })
    await trpc.trash.purge.mutate({ baseId, items: [{ kind: 'table', tableId: table.id }] })
    await rewind.getByLabel('Time', { exact: true }).fill(now)
    await rewind.getByLabel('Base', { exact: true }).selectOption(baseId)
    await rewind.getByRole('textbox', { name: 'Title of the new base' }).fill('Of another time')
    await rewind.getByRole('button', { name: 'Restore as new base' }).click()
    await see(page.getByText('“Of another time” was restored'))
    // It stays open to say what is missing.
    await see(rewind.getByText('Deleted forever since: table Gone for good.'))
    expect(await axeViolations(page)).toEqual([])
    await rewind.getByRole('button', { name: 'Open' }).click()
    await rewind.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('/account/')
    await page.goBack()
    // Its contents get lost.
    rmSync(join(folder, 'backups', 'packs'), { recursive: true })
    await row.getByRole('button', { name: /^Test the backup of / }).click()
    await see(row.getByText('Failed'))
    await see(page.getByRole('alert').getByText(/can’t be restored: .*chunks are missing or damaged/))
    expect(await axeViolations(page)).toEqual([])
  })

  test('say that a passphrase does not go along to another place', async () => {
    const page = await openSignedIn('/account/backups')
    await page.getByRole('button', { name: /^(Set up backups|Backup settings)$/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Backup settings' })
    const place = dialog.getByRole('textbox', { name: 'Place' })
    await place.fill(join(folder, 'encrypted'))
    await dialog.getByLabel('Passphrase', { exact: true }).fill('sixteen letters or more')
    // What is saved is shown at once, however late it is read again.
    await page.route(/\/trpc\/[^?]*backups\.overview/, async (route) => {
      await Bun.sleep(500)
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Backup settings' }).click()
    await see(dialog.getByText('Stored. Leave empty to keep it.'))
    await place.fill(join(folder, 'elsewhere'))
    await see(dialog.getByText(/^Empty: the backups are not encrypted/))
    expect(await dialog.getByText('Stored. Leave empty to keep it.').count()).toBe(0)
  })
})

expectNoProblems()
