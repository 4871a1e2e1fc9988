import { afterAll, describe, expect, test } from 'bun:test'
import { createBase } from '../support/factories.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { FORM_FIELDS, formTests } from './form-world.ts'
import { eventually } from './grid-page.ts'

const NOTE = 'This server can’t send email. Nothing is sent until email is configured.'

const smtp = await startSmtpServer()
afterAll(() => smtp.go())

describe('without a mail service', () => {
  const tests = formTests()

  test('the form’s settings and the page for forgotten passwords say so', async () => {
    const world = await tests.create(FORM_FIELDS)
    await world.say({}, { emailTo: 'ann@example.com' })
    const page = await tests.build(world)
    await page.getByRole('tab', { name: 'Form' }).click()
    await page.getByText(NOTE).waitFor()
    const signedOut = await tests.open('/#/forgot-password')
    await signedOut.getByText('This server can’t send email, so').waitFor()
    expect(await signedOut.getByLabel('Email').count()).toBe(0)
  })

  test('an invitation opens with its address, asks for a password alone, and says when it is used', async () => {
    const owner = tests.owner()
    const base = await createBase(tests.app(), owner)
    const path = `/api/v1/db/meta/projects/${base.id}/users`
    const email = 'guest@example.com'
    const { body } = await tests.app().rest(owner.token).post(path, { email, roles: 'editor' })
    const page = await tests.open(`/dashboard/#/signup/${body.invite_token}`)
    await page.getByText('You’ve been invited as guest@example.com.').waitFor()
    const address = page.getByLabel('Email')
    expect(await address.inputValue()).toBe(email)
    expect(await address.getAttribute('readonly')).not.toBeNull()
    // The cursor stands in the password.
    await page.keyboard.type('a password of my own')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Account menu' }).waitFor()

    const late = await tests.open(`/dashboard/#/signup/${body.invite_token}`)
    await late.getByText('This invitation is no longer valid').waitFor()
    await late.getByRole('link', { name: 'Sign in' }).waitFor()
  })
})

describe('with a mail service', () => {
  const tests = formTests({ config: smtp.config })

  test('the form’s settings take addresses, and say no longer that nothing is sent', async () => {
    const world = await tests.create(FORM_FIELDS)
    await world.say({}, { emailTo: 'old@example.com' })
    const page = await tests.build(world)
    await page.getByRole('tab', { name: 'Form' }).click()
    const addresses = page.getByLabel('Email responses to')
    await addresses.fill('ann@example.com, ben')
    await addresses.blur()
    await page.getByText('“ben” is not a valid email address').waitFor()
    await addresses.fill('ann@example.com, ben@example.com')
    await addresses.blur()
    const saved = await eventually(world.saved, ({ options }) => JSON.stringify(options).includes('ben@'))
    expect(saved.options).toMatchObject({ emailTo: 'ann@example.com, ben@example.com' })
    expect(await page.getByText(NOTE).count()).toBe(0)
  })

  test('administrators send themselves a test mail, and read why it was not accepted', async () => {
    const page = await tests.open('/#/account/setup', { user: tests.owner() })
    await page.getByRole('heading', { name: 'Email Configured' }).waitFor()
    await page.getByRole('button', { name: 'View SMTP' }).click()
    expect(await page.getByLabel('Sender', { exact: true }).inputValue()).toBe('Sheaf <sheaf@example.com>')
    const send = page.getByRole('button', { name: 'Test', exact: true })
    smtp.unknown.add(tests.owner().email)
    await send.click()
    await page.getByRole('alert').getByText('No such mailbox').waitFor()
    smtp.unknown.clear()
    await send.click()
    await page.getByText(`The mail server accepted a test mail to ${tests.owner().email}.`).waitFor()
    expect(smtp.mails.at(-1)?.headers.subject).toBe('Test mail from Sheaf')
    smtp.mails.length = 0
  })

  test('daily notifications come at 7:00 in the time zone of the browser, or when one chooses', async () => {
    const api = tests.app().trpc(tests.owner().token)
    const page = await tests.open('/dashboard/#/account/notifications', { user: tests.owner() })
    const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
    await eventually(
      () => api.notifications.settings.query(),
      (now) => now.timeZone === zone,
    )
    const hour = page.getByLabel('Daily emails at')
    expect(await hour.inputValue()).toBe('7')
    await hour.selectOption('18')
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    const stored = await eventually(
      () => api.notifications.settings.query(),
      (now) => now.timeZone === 'Asia/Tokyo' && now.dailyHour === 18,
    )
    expect(stored).toMatchObject({ timeZone: 'Asia/Tokyo', dailyHour: 18 })
    await page.reload()
    await page.getByLabel('Time zone').waitFor()
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo')
    if (process.env.MAIL_SHOTS) await page.screenshot({ path: `${process.env.MAIL_SHOTS}/daily.png` })
  })

  test('a link is mailed to who forgot their password, and nobody is told whether there was an account', async () => {
    const page = await tests.open('/#/signin', { width: 390 })
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByRole('button', { name: 'Send reset link' }).click()
    await page.getByText('Enter your email address', { exact: true }).waitFor()
    const nobody = `${'n'.repeat(60)}@${'h'.repeat(60)}.example.com`
    await page.getByLabel('Email').fill(nobody)
    await page.keyboard.press('Enter')
    await page.getByText(`If an account exists for ${nobody}`).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)

    await page.getByRole('link', { name: 'Back to sign-in' }).click()
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByLabel('Email').fill(tests.owner().email)
    await page.keyboard.press('Enter')
    await page.getByText(`If an account exists for ${tests.owner().email}`).waitFor()
    const [mail] = await smtp.waitFor(1)
    expect(mail?.recipients).toEqual([tests.owner().email])
    const token = /#\/reset\/(\S+)/.exec(mail?.text ?? '')?.[1]
    const chosen = await tests.open(`/dashboard/#/reset/${token}`)
    await chosen.getByLabel('New password').fill('another password')
    await chosen.keyboard.press('Enter')
    await chosen.getByText('Password changed').waitFor()
  })
})
