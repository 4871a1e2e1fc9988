import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp } from '../support/app.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const FORGOT = '/api/v1/auth/password/forgot'
const SAID = [200, { msg: 'Please check your email to reset the password' }]

describe.each(META_DATABASES)('forgotten passwords by mail on %s', (database) => {
  let app: TestApp
  let smtp: SmtpRecorder
  beforeAll(async () => {
    smtp = await startSmtpServer()
    app = await createTestApp({ database, config: { ...smtp.config, trustProxy: true } })
    await app.signUp('admin@example.com')
  })
  afterAll(async () => {
    await app.stop()
    await smtp.go()
  })
  beforeEach(() => {
    smtp.mails.length = 0
  })

  /** Asks as somebody at an address of their own, by a host that they made up. */
  const ask = async (email: unknown, from: string) => {
    const answer = await fetch(`${app.url}${FORGOT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from, host: 'evil.example.com' },
      body: JSON.stringify({ email }),
    })
    return [answer.status, await answer.json()]
  }
  const linkIn = (text = '') => /https?:\/\/\S+/.exec(text)?.[0] ?? ''
  const reset = (token: string, password: string) =>
    app.rest().post(`/api/v1/auth/password/reset/${token}`, { password })

  test('refuses what is no address, and answers the same whether or not somebody has it', async () => {
    for (const email of [
      'nobody',
      null,
      'a@example.com, admin@example.com',
      'admin@example.com\r\nBcc: x@y.zz',
    ]) {
      expect((await ask(email, '10.0.0.1'))[0]).toBe(400)
    }
    expect(await ask('nobody@example.com', '10.0.0.1')).toEqual(SAID)
    expect(await ask('Admin@Example.com', '10.0.0.1')).toEqual(SAID)
    await smtp.waitFor(1)
    await app.kernel.mail.sendDue()
    expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['admin@example.com']])
  })

  test('the link leads to this server and sets a new password once; it ends the others', async () => {
    const user = await app.signUp('lost@example.com')
    await ask(user.email, '10.0.0.2')
    await app.trpc().auth.forgotPassword.mutate({ email: user.email })
    const links = (await smtp.waitFor(2)).map(({ text }) => linkIn(text))
    const tokens = links.map((link) => link.split('/').at(-1) ?? '')
    expect(links[0]).toBe(`https://sheaf.example.com/dashboard/#/reset/${tokens[0]}`)
    const answers = await Promise.all([
      reset(tokens[0] ?? '', 'new password 1'),
      reset(tokens[0] ?? '', 'x'.repeat(9)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect((await reset(tokens[1] ?? '', 'new password 2')).status).toBe(400)
    expect((await app.trpc(user.token).auth.me.query()).user).toBeNull()
    expect(app.trpc().auth.signIn.mutate({ email: user.email, password: PASSWORD })).rejects.toThrow()
  })

  test('nobody is flooded: three mails to one person, twenty requests from one place', async () => {
    const { email } = await app.signUp('often@example.com')
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => ask(email, `10.0.1.${at}`)))
    expect(answers).toEqual(answers.map(() => SAID))
    await smtp.waitFor(3)
    await app.kernel.mail.sendDue()
    expect(smtp.mails).toHaveLength(3)
    const many: unknown[] = []
    for (let at = 0; at < 21; at++) many.push((await ask(`p${at}@example.com`, '10.0.2.1'))[0])
    expect(many).toEqual([...Array(20).fill(200), 429])
  })
})
