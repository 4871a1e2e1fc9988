import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startBucket } from '../support/bucket.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'
import { see, setUpShell } from './shell-page.ts'

const { app, openSignedIn, expectNoProblems } = setUpShell({
  withAccount: true,
  config: { allowLocalHttp: true },
})

let smtp: SmtpRecorder
let bucket: ReturnType<typeof startBucket>
let services: OutboundRecorder
beforeAll(async () => {
  smtp = await startSmtpServer({ account: { user: 'sheaf', pass: 'hush-secret' } })
  bucket = startBucket()
  services = startOutboundRecorder()
})
afterAll(async () => {
  await smtp.go()
  await Promise.all([bucket.stop(), services.stop()])
})

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true })

async function configure(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: `Configure ${title}` }).click()
  await see(page.getByRole('dialog', { name: title }))
}

describe('the setup of an administrator', () => {
  test('configures a mail server that is tried first, and used at once', async () => {
    const page = await openSignedIn('/account/setup')
    await see(page.getByRole('heading', { name: 'Email Not configured' }))
    await configure(page, 'SMTP')
    await button(page, 'Save').click()
    await see(dialog(page).getByText('Sender is required'))
    await dialog(page).getByLabel('Sender').fill('sheaf@example.com')
    expect(await dialog(page).getByText('Sender is required').count()).toBe(0)
    await dialog(page).getByRole('textbox', { name: 'Mail server' }).fill('127.0.0.1')
    await dialog(page).getByRole('textbox', { name: 'Port' }).fill(String(smtp.config.smtpPort))
    await dialog(page).getByRole('textbox', { name: 'User name' }).fill('sheaf')
    await dialog(page).getByLabel('Password (optional)').fill('wrong-secret')
    await button(page, 'Save').click()
    await see(dialog(page).getByRole('alert').getByText('No such account'))
    await dialog(page).getByLabel('Password (optional)').fill('hush-secret')
    await button(page, 'Test').click()
    await see(dialog(page).getByText('The mail server accepted a test mail to ada@example.com.'))
    expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['ada@example.com']])
    await button(page, 'Save').click()
    await dialog(page).waitFor({ state: 'detached' })
    await see(page.getByRole('heading', { name: 'Email Configured' }))
    expect((await app().trpc().app.info.query()).sendsMail).toBe(true)

    await configure(page, 'SMTP')
    const password = dialog(page).getByLabel('Password (optional)')
    expect([await password.inputValue(), await password.getAttribute('placeholder')]).toEqual([
      '',
      'Stored; leave empty to keep it',
    ])
    await button(page, 'Reset').click()
    await page.getByRole('dialog', { name: 'Reset SMTP?' }).getByRole('button', { name: 'Reset' }).click()
    await see(page.getByRole('heading', { name: 'Email Not configured' }))
    expect((await app().trpc().app.info.query()).sendsMail).toBe(false)
  })

  test('configures a bucket, and reads where the files are', async () => {
    const page = await openSignedIn('/account/setup')
    await see(page.getByText('New files are stored in the data folder of the server'))
    await configure(page, 'Amazon S3')
    await see(dialog(page).getByText('Files that are already stored stay where they are'))
    await dialog(page).getByLabel('Bucket').fill('files')
    await dialog(page).getByLabel('Region').fill('eu-1')
    await dialog(page).getByLabel('Endpoint').fill(bucket.url)
    await dialog(page).getByLabel('Access key').fill('key')
    await dialog(page).getByLabel('Secret key').fill('hush')
    bucket.refuse('AccessDenied')
    await button(page, 'Test').click()
    await see(dialog(page).getByRole('alert').getByText('AccessDenied'))
    bucket.refuse('')
    await button(page, 'Test').click()
    await see(dialog(page).getByText('An object was written, read and deleted.'))
    await button(page, 'Save').click()
    await see(page.getByText('New files are stored in files (127.0.0.1:'))
  })

  test('adds and removes channels of a chat service by keyboard', async () => {
    services.answer('/hooks/b', { status: 404, body: 'no_service' })
    const page = await openSignedIn('/account/setup')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Configure Slack' }).focus()
    await page.keyboard.press('Enter')
    await see(page.getByRole('dialog', { name: 'Slack' }))
    await page.keyboard.type('team')
    await page.keyboard.press('Tab')
    await page.keyboard.type(`${services.url}/hooks/a`)
    await button(page, 'Add channel').press('Enter')
    await dialog(page).getByLabel('Channel name').last().fill('قناة الفريق')
    await dialog(page).getByLabel('Webhook URL').last().fill(`${services.url}/hooks/b`)
    await button(page, 'Test').press('Enter')
    await see(dialog(page).getByText('قناة الفريق: Slack doesn’t know this webhook URL'))
    expect(services.requests.map(({ path }) => path)).toEqual(['/hooks/a', '/hooks/b'])
    await button(page, 'Remove قناة الفريق').press('Enter')
    await button(page, 'Save').press('Enter')
    await see(page.getByRole('heading', { name: 'Chat Configured' }))
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  expectNoProblems()
})
