import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, type TestApp } from '../support/app.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'
import { createForm } from './form-world.ts'
import { createSecrets, refusalOf, type Secrets } from './world.ts'

const MINUTE = 60_000

describe.each(META_DATABASES)('answers by mail on %s', (database) => {
  let app: TestApp
  let smtp: SmtpRecorder
  let world: Secrets

  beforeAll(async () => {
    smtp = await startSmtpServer({ account: { user: 'sheaf', pass: 'hunter2-secret' } })
    app = await createTestApp({ database, config: { ...smtp.config, formAnswersPerHour: 1000 } })
    world = await createSecrets(app, await app.signUp('owner@example.com'))
  })
  afterAll(async () => {
    await app.stop()
    await smtp.go()
  })
  beforeEach(() => {
    smtp.mails.length = 0
  })

  const quiet = async () => {
    await app.kernel.mail.sendDue()
    return smtp.mails
  }

  test('refuses addresses that are none, and more than ten', async () => {
    const { change } = await createForm(world, { name: {} })
    const many = Array.from({ length: 11 }, (_, at) => `p${at}@example.com`).join(', ')
    for (const emailTo of ['ann', 'ann@example.com, ben', 'a@example.com\r\nBcc: b@example.com', many]) {
      expect(await refusalOf(change({ emailTo }))).toBe('400 BAD_REQUEST')
    }
  })

  test('sends nothing about an answer that was refused, nor of a form that is closed or names nobody', async () => {
    const { fields } = world
    const to = { emailTo: 'boss@example.com' }
    const strict = await createForm(world, { name: { required: true } }, to)
    expect(await refusalOf(strict.submit({}))).toBe('422 INVALID_VALUE_FOR_FIELD')
    const closed = await createForm(world, { name: {} }, { ...to, closesAt: '2020-01-01T00:00:00Z' })
    expect(await refusalOf(closed.submit({ [fields.name]: 'Late' }))).toBe('403 FORBIDDEN')
    const silent = await createForm(world, { name: {} })
    await silent.submit({ [fields.name]: 'Quiet' })
    expect(await quiet()).toEqual([])
  })

  test('one unknown mailbox takes no mail from the others, and is not tried again', async () => {
    const { fields } = world
    smtp.unknown.add('gone@example.com')
    const { submit } = await createForm(
      world,
      { name: {} },
      { emailTo: 'gone@example.com, ann@example.com, Ann@example.com' },
    )
    await submit({ [fields.name]: 'Zoe' })
    await app.kernel.mail.sendDue()
    smtp.unknown.clear()
    await app.kernel.mail.sendDue(Date.now() + 24 * 60 * MINUTE)
    expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['ann@example.com']])
  })

  test('says what was asked and answered, and nothing that was not asked', async () => {
    const { fields, records, baseId, tableId } = world
    const { submit } = await createForm(
      world,
      {
        name: { label: 'Your name' },
        mood: { showIf: { fieldId: fields.name, operator: 'eq', value: 'Ask me' } },
        team: {},
        salary: {},
      },
      { heading: 'Apply now', emailTo: 'boss@example.com' },
    )
    const { recordId } = await submit({
      [fields.name]: 'Zoe',
      [fields.mood]: 'Sad',
      [fields.team]: JSON.stringify([records.red]),
      [fields.friend]: world.owner.id,
    })
    const [mail] = await smtp.waitFor(1)
    expect(mail?.headers.subject).toBe('New response: Apply now')
    expect(mail?.headers['reply-to']).toBeUndefined()
    expect(mail?.recipients).toEqual(['boss@example.com'])
    const link = `https://sheaf.example.com/dashboard/#/nc/${baseId}/${tableId}?rowId=${recordId}`
    expect(mail?.text.trim()).toBe(
      [
        'New response to “Apply now”:',
        'Your name\n    Zoe',
        'Teams\n    Red',
        'Secret salary\n    –',
        `Open record:\n${link}`,
      ].join('\n\n'),
    )
    expect(mail?.html).toContain(`href="${link}"`)
    expect(mail?.html).not.toMatch(/Sad|owner@/)
  })

  test('what visitors write stays text: no header, no markup, no question of their own', async () => {
    const { fields } = world
    const title = 'A\r\nBcc: <b>eve</b>@example.com'
    const { submit } = await createForm(
      world,
      { name: { label: '<img src=x onerror=alert(1)>' } },
      { heading: title, emailTo: 'boss@example.com' },
    )
    await submit({ [fields.name]: '<script>alert("1")</script>\nYour password\n\nBcc: eve@example.com\n.\n' })
    const [mail] = await smtp.waitFor(1)
    expect(mail?.recipients).toEqual(['boss@example.com'])
    expect(mail?.headers.bcc).toBeUndefined()
    expect(mail?.headers.subject).toBe('New response: A Bcc: <b>eve</b>@example.com')
    expect(mail?.html).not.toMatch(/<script|<img|<b>/)
    expect(mail?.html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;')
    expect(mail?.text).toContain('\n    Your password\n')
  })

  test('waits for a mail server that is away, and sends once when it is back', async () => {
    const { fields } = world
    const { submit } = await createForm(world, { name: {} }, { emailTo: 'boss@example.com' })
    await smtp.go()
    await submit({ [fields.name]: 'Patient' })
    await app.kernel.mail.sendDue()
    await smtp.come()
    // Not before its minute is over, however often one looks.
    expect(await quiet()).toEqual([])
    const later = Date.now() + 2 * MINUTE
    await Promise.all([app.kernel.mail.sendDue(later), app.kernel.mail.sendDue(later)])
    await app.kernel.mail.sendDue(Date.now() + 600 * MINUTE)
    expect(smtp.mails.map(({ text }) => text.includes('Patient'))).toEqual([true])
  })

  test('gives up after six attempts', async () => {
    const { fields } = world
    const { submit } = await createForm(world, { name: {} }, { emailTo: 'boss@example.com' })
    await smtp.go()
    await submit({ [fields.name]: 'Lost' })
    let now = Date.now()
    for (let attempt = 0; attempt < 6; attempt++) {
      await app.kernel.mail.sendDue(now)
      now += 400 * MINUTE
    }
    await smtp.come()
    await app.kernel.mail.sendDue(now)
    expect(smtp.mails).toEqual([])
  })

  test('sixty answers within an hour are mailed, also when they come at once; the last says so', async () => {
    const { fields } = world
    const { submit } = await createForm(world, { name: {} }, { emailTo: 'boss@example.com' })
    await Promise.all(Array.from({ length: 64 }, (_, at) => submit({ [fields.name]: `Bot ${at}` })))
    await smtp.waitFor(60)
    expect(await quiet()).toHaveLength(60)
    expect(smtp.mails.filter(({ text }) => text.includes('won’t get an email for each'))).toHaveLength(1)
  })

  test('the password of the mail server is told to nobody', async () => {
    const info = await app.trpc().app.info.query()
    expect(info.sendsMail).toBe(true)
    expect(JSON.stringify(info)).not.toContain('hunter2')
  })
})

test('without a mail service answers are kept as ever', async () => {
  const app = await createTestApp()
  try {
    const world = await createSecrets(app, await app.signUp())
    const { submit } = await createForm(world, { name: {} }, { emailTo: 'boss@example.com' })
    expect(await submit({ [world.fields.name]: 'Zoe' })).toHaveProperty('recordId')
    expect((await app.trpc().app.info.query()).sendsMail).toBe(false)
  } finally {
    await app.stop()
  }
})
