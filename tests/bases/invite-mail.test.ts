import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const USERS = '/api/v1/users'

describe.each(META_DATABASES)('invitations by mail on %s', (database) => {
  let app: TestApp
  let smtp: SmtpRecorder
  let owner: TestUser
  let members: string
  let baseId: string
  beforeAll(async () => {
    smtp = await startSmtpServer()
    app = await createTestApp({ database, config: { ...smtp.config, inviteOnlySignup: false } })
    owner = await app.signUp('owner@example.com')
    baseId = (await createBase(app, owner, 'Secret plans')).id
    members = `/api/v2/meta/bases/${baseId}/users`
  })
  afterAll(async () => {
    await app.stop()
    await smtp.go()
  })
  beforeEach(() => {
    smtp.mails.length = 0
  })
  const asOwner = () => app.rest(owner.token)
  const nothingIsSent = async () => {
    await app.kernel.mail.sendDue()
    expect(smtp.mails).toEqual([])
  }

  test('nobody is written to for an invitation that is refused, nor for one who has an account', async () => {
    const viewer = await createMember(app, baseId, 'viewer')
    const creator = await createMember(app, baseId, 'creator')
    const known = await app.signUp('known@example.com')
    const invite = (by: TestUser, email: string, roles: string) =>
      app.rest(by.token).post(members, { email, roles })
    expect((await invite(viewer, 'x@example.com', 'owner')).status).toBe(403)
    expect((await invite(owner, 'no address', 'viewer')).status).toBe(422)
    expect((await invite(owner, known.email, 'viewer')).status).toBe(200)
    const again = (by: TestUser, userId: string) =>
      app.rest(by.token).post(`${members}/${userId}/resend-invite`)
    expect((await again(viewer, known.id)).status).toBe(403)
    expect((await again(owner, known.id)).status).toBe(400)
    expect((await again(creator, 'us00000000000000')).status).toBe(422)
    expect((await asOwner().post(`${USERS}/${known.id}/resend-invite`)).status).toBe(400)
    await nothingIsSent()
  })

  test('who has no account gets a link to sign up, and it once more where somebody asks', async () => {
    const email = 'new@example.com'
    const { body } = await asOwner().post(members, { email, roles: 'editor' })
    const [mail] = await smtp.waitFor(1)
    expect(mail?.recipients).toEqual([email])
    expect(mail?.headers.subject).toBe('owner@example.com invited you to Sheaf')
    expect(mail?.text).toContain(`https://sheaf.example.com/dashboard/#/signup/${body.invite_token}\n`)
    expect(mail?.raw).not.toContain('Secret plans')
    const { list } = (await asOwner().get(members)).body.users
    const { id } = list.find((one: { email: string }) => one.email === email)
    const said = { msg: 'The invitation has been sent to the user' }
    expect((await asOwner().post(`${members}/${id}/resend-invite`)).body).toEqual(said)
    expect((await asOwner().post(`${USERS}/${id}/resend-invite`)).body).toEqual(said)
    const texts = (await smtp.waitFor(3)).map(({ text }) => text)
    expect(new Set(texts).size).toBe(1)
    const { items } = await app.trpc(owner.token).activity.log.query({ limit: 2 })
    const again = { kind: 'user.resend-invite', actorId: owner.id, userId: id, detail: { name: email } }
    expect(items).toMatchObject([again, again])
    const inviteToken = /signup\/(\S+)/.exec(texts[2] ?? '')?.[1]
    await app.trpc().auth.signUp.mutate({ email, password: PASSWORD, inviteToken })
    expect((await asOwner().post(`${USERS}/${id}/resend-invite`)).status).toBe(400)
  })

  test('an administrator invites by mail, a hundred people within an hour; more get their link by hand', async () => {
    const admin = await app.signUp()
    await asOwner().patch(`${USERS}/${admin.id}`, { roles: 'org-level-creator' })
    const answers: { status: number; body: { invite_token: string } }[] = []
    for (let at = 0; at < 102; at++)
      answers.push(await app.rest(admin.token).post(USERS, { email: `p${at}@many.example.com` }))
    expect(answers.map(({ status }) => status)).toEqual(Array(102).fill(200))
    expect(answers[0]?.body).toMatchObject({ msg: 'success', email: 'p0@many.example.com' })
    expect(answers[101]?.body.invite_token).toBeString()
    const topic = `invite ${admin.id}`
    expect(await app.kernel.mail.countEvents(topic)).toBe(100)
    const { list } = (await app.rest(admin.token).get(`${USERS}?query=p101@many`)).body
    expect((await app.rest(admin.token).post(`${USERS}/${list[0].id}/resend-invite`)).status).toBe(429)
  })
})
