import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { defineHooksTables } from '../../modules/hooks/tables.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'
import { until } from '../support/until.ts'

let bench: Bench
let table: TestTable
let services: OutboundRecorder
let smtp: SmtpRecorder

const NAMED = ['Slack', 'Microsoft Teams', 'Discord', 'Mattermost']
const IDS: Record<string, string> = {
  Slack: 'slack',
  'Microsoft Teams': 'ms-teams',
  Discord: 'discord',
  Mattermost: 'mattermost',
}

beforeAll(async () => {
  services = startOutboundRecorder()
  smtp = await startSmtpServer()
  bench = await createBench({
    config: {
      ...smtp.config,
      allowLocalHttp: true,
      telegramApiUrl: services.url,
      webhookRetryMs: 400,
      webhookMailsPerHour: 8,
      twilioApiUrl: services.url,
    },
  })
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '<!channel> @everyone' }])
  const save = (id: string, config: object) => bench.trpc.plugins.save.mutate({ id, config: config as never })
  for (const id of Object.values(IDS)) {
    await save(id, [{ channel: 'team', webhook_url: `${services.url}/hooks/hush-${id}?key=hush` }])
  }
  await save('telegram', [{ channel: 'team', token: '1:hush', chat_id: '-5' }])
  await save('twilio', { sid: 'AC1', token: 'hush-token', from: '+15550100' })
  await save('twilio-whatsapp', { sid: 'AC1', token: 'hush-token', from: '+15550100' })
})
afterAll(async () => {
  await bench.stop()
  await Promise.all([services.stop(), smtp.go()])
})
beforeEach(() => {
  services.clear()
  smtp.mails.length = 0
})

const BODY = 'New: {{event.data.rows.[0].Title}}'
const run = (type: string, payload: object, recordId: number | undefined = 1) =>
  bench.trpc.hooks.test.mutate({
    tableId: table.id,
    operation: 'insert',
    recordId,
    channel: { type, payload: payload as Record<string, unknown> },
  })
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error) => error.message,
  )
const toTeam = { channels: [{ channel: 'team' }], body: BODY }

describe('the settings of a chat channel', () => {
  test.each([
    ['no channel', 'Slack', { channels: [], body: 'x' }, '“channels”'],
    ['a channel twice', 'Slack', { channels: [{ channel: 'a' }, { channel: 'a' }], body: 'x' }, '“channels”'],
    [
      'more than ten channels',
      'Slack',
      { channels: Array.from({ length: 11 }, (_, at) => ({ channel: `c${at}` })), body: 'x' },
      '“channels”',
    ],
    ['a channel without an address', 'Slack', { channels: [{ webhook_url: '' }], body: 'x' }, '“channels'],
    ['an empty message', 'Slack', { ...toTeam, body: ' ' }, '“body”'],
    ['a template that is not closed', 'Discord', { ...toTeam, body: '{{event' }, '“body” has a mistake'],
    ['no number', 'Twilio', { body: 'x' }, '“to”'],
    ['no address', 'Email', { to: '', subject: 's', body: 'x' }, '“to”'],
  ])('are refused with %s', async (_, type, payload, message) => {
    expect(await refusal(run(type, payload))).toContain(message)
    expect(services.requests).toBeEmpty()
  })
})

describe('a webhook', () => {
  test.each(NAMED)('posts to a configured channel of %s by its name', async (type) => {
    const result = await run(type, toTeam)
    expect(result).toMatchObject({ isDelivered: true, error: null })
    const [request] = services.requests
    expect([request?.method, request?.path]).toEqual(['POST', `/hooks/hush-${IDS[type]}?key=hush`])
    expect(JSON.stringify(result)).not.toContain('hush')
    expect(request?.body).toContain('New: ')
    expect(request?.headers).not.toHaveProperty('webhook-signature')
  })

  test('escapes the text of records for Slack', async () => {
    await run('Slack', toTeam)
    expect(JSON.parse(services.requests[0]?.body ?? '')).toEqual({ text: 'New: &lt;!channel&gt; @everyone' })
  })

  test('posts to the webhook URL that a client sends, and hides it in the log', async () => {
    const channels = [{ channel: 'other', webhook_url: `${services.url}/hooks/own-secret` }]
    const result = await run('Slack', { channels, body: 'x' })
    expect(services.requests.map(({ path }) => path)).toEqual(['/hooks/own-secret'])
    expect(JSON.stringify(result)).not.toContain('own-secret')
  })

  test('posts to several channels, and again only to those that have refused it', async () => {
    const url = (name: string) => `${services.url}/hooks/${name}`
    const channels = [{ channel: 'team' }, { webhook_url: url('two') }, { webhook_url: url('three') }]
    services.answer('/hooks/two', { status: 500 })
    const { id: hookId } = await bench.trpc.hooks.create.mutate({
      tableId: table.id,
      title: 'Tell all',
      event: 'manual',
      operations: [],
      channel: { type: 'Slack', payload: { channels, body: 'x' } },
    })
    const called = () => services.requests.map(({ path }) => path.replace(/\?.*/, '')).toSorted()
    const [first] = await bench.trpc.hooks.trigger.mutate({ hookId, recordIds: [1] })
    expect(first).toMatchObject({ status: 'waiting', error: { code: 'ERR_BAD_RESPONSE' } })
    // The one that has refused may have been called again by now.
    expect(called().slice(0, 3)).toEqual(['/hooks/hush-slack', '/hooks/three', '/hooks/two'])
    services.answer('/hooks/two', { status: 200 })
    await until(async () => !(await bench.app.services.hooks.isBusy(bench.baseId)), 'The second try')
    expect(called().slice(0, 2)).toEqual(['/hooks/hush-slack', '/hooks/three'])
    expect(new Set(called().slice(2))).toEqual(new Set(['/hooks/two']))
    const { deliveries } = await bench.trpc.hooks.deliveries.query({ hookId })
    expect(deliveries).toMatchObject([{ status: 'delivered', error: null }])
    services.clear()
    await bench.trpc.hooks.retry.mutate({ hookId, deliveries: [deliveries[0]!.id] })
    await services.waitFor(3)
    expect(called()).toEqual(['/hooks/hush-slack', '/hooks/three', '/hooks/two'])
  })

  test('reaches the others where one of several channels is not configured', async () => {
    const channels = [{ channel: 'gone' }, { channel: 'team' }]
    const result = await run('Slack', { channels, body: 'x' })
    expect(result).toMatchObject({ isDelivered: false, error: { code: 'ERR_CHANNEL' } })
    expect(services.requests).toHaveLength(1)
  })

  test('tells the refusal of a service, a channel that is not configured, and a blocked address', async () => {
    services.answer('*', { status: 403, body: 'invalid_token' })
    expect((await run('Slack', toTeam)).error?.message).toContain('Slack doesn’t know this webhook URL')
    services.answer('*', { body: { ok: false, description: 'Forbidden: bot was kicked' } })
    const telegram = await run('Telegram', toTeam)
    expect(telegram).toMatchObject({ isDelivered: false, error: { message: 'Forbidden: bot was kicked' } })
    expect(JSON.stringify(telegram)).not.toContain('hush')
    expect(await run('Slack', { ...toTeam, channels: [{ channel: 'gone' }] })).toMatchObject({
      isDelivered: false,
      error: { code: 'ERR_CHANNEL', message: 'Slack has no channel named “gone”' },
    })
    const channels = [{ channel: 'team', webhook_url: 'x' }]
    expect(
      await run('Telegram', { ...toTeam, channels: [{ ...channels[0], channel: 'gone' }] }),
    ).toMatchObject({
      error: { message: 'Telegram has no channel named “gone”' },
    })
  })

  test('sends messages of a Telegram bot', async () => {
    services.answer('*', { body: { ok: true } })
    expect((await run('Telegram', toTeam)).isDelivered).toBe(true)
    expect(services.requests[0]?.path).toBe('/bot1:hush/sendMessage')
  })

  test('sends text and WhatsApp messages to a number of the record', async () => {
    services.answer('*', { status: 201, body: {} })
    for (const type of ['Twilio', 'Whatsapp Twilio', 'Whatsapp']) {
      const result = await run(type, { to: '{{#if event.id}}+15550123{{/if}}', body: BODY })
      expect(result.isDelivered).toBe(true)
      expect(JSON.stringify(result)).not.toContain(btoa('AC1:hush-token'))
    }
    const numbers = services.requests.map(({ body }) => new URLSearchParams(body).get('To'))
    expect(numbers).toEqual(['+15550123', 'whatsapp:+15550123', 'whatsapp:+15550123'])
    expect((await run('Twilio', { to: 'ann', body: 'x' })).error?.message).toContain('is not a phone number')
  })

  const createMailHook = () =>
    bench.trpc.hooks.create.mutate({
      tableId: table.id,
      title: 'Mail',
      event: 'manual',
      operations: [],
      channel: { type: 'Email', payload: { to: 'loop@example.com', subject: 's', body: 'x' } },
    })

  test('mails no more than allowed within an hour, and its log says why', async () => {
    const { id: hookId } = await createMailHook()
    const outcomes = []
    for (let count = 0; count < 10; count++) {
      outcomes.push(...(await bench.trpc.hooks.trigger.mutate({ hookId, recordIds: [1] })))
      // Later ones of the same record wait for the first that does.
      if (outcomes.at(-1)?.status === 'waiting') break
    }
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(8).fill('delivered'), 'waiting'])
    expect(outcomes.at(-1)?.error).toMatchObject({
      code: 'ERR_MAIL_LIMIT',
      message: expect.stringContaining('8 calls'),
    })
    await bench.trpc.hooks.delete.mutate({ hookId })
    await bench.app.kernel.mail.sendDue()
    expect(await smtp.waitFor(8)).toHaveLength(8)
    smtp.mails.length = 0
  })

  test('lets mails beyond the limit wait, however often they have looked for room', async () => {
    const { id: hookId } = await createMailHook()
    for (let count = 0; count < 9; count++) {
      await bench.trpc.hooks.trigger.mutate({ hookId, recordIds: [1] })
    }
    const waiting = async () =>
      (await bench.trpc.hooks.deliveries.query({ hookId })).deliveries.find(
        ({ status }) => status !== 'delivered',
      )
    const held = { status: 'waiting', error: { code: 'ERR_MAIL_LIMIT' } }
    expect(await waiting()).toMatchObject(held)
    // As after two hours in which others took the room. It is read again when the webhook is turned on.
    await bench.trpc.hooks.setActive.mutate({ hookId, isActive: false })
    const { db, tables } = bench.app.kernel.meta
    const { hookDeliveries } = tables(defineHooksTables)
    await Bun.sleep(50)
    await db
      .update(hookDeliveries)
      .set({ attempts: 8, dueAt: 0 })
      .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.status, 'waiting')))
    await bench.trpc.hooks.setActive.mutate({ hookId, isActive: true })
    await until(async () => (await waiting())?.dueAt !== new Date(0).toISOString(), 'A later date')
    expect(await waiting()).toMatchObject(held)
    await bench.trpc.hooks.delete.mutate({ hookId })
    await bench.app.kernel.mail.sendDue()
    smtp.mails.length = 0
  })

  test('mails its message, in which no text becomes a header', async () => {
    const subject = 'Hello\r\nBcc: eve@example.com'
    expect(
      (await run('Email', { to: 'a@example.com, b@example.com', subject, body: BODY })).isDelivered,
    ).toBe(true)
    await bench.app.kernel.mail.sendDue()
    const mails = await smtp.waitFor(2)
    expect(mails.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
      'a@example.com',
      'b@example.com',
    ])
    expect(mails[0]?.headers.subject).toBe('Hello Bcc: eve@example.com')
    expect(mails[0]?.text).toContain('New: <!channel> @everyone')
    for (const to of ['nobody', `${'a@example.com,'.repeat(3)}b`]) {
      expect((await run('Email', { to, subject: 's', body: 'x' })).error).toMatchObject({
        code: 'ERR_TEMPLATE',
      })
    }
    const many = Array.from({ length: 11 }, (_, at) => `a${at}@example.com`).join(',')
    expect((await run('Email', { to: many, subject: 's', body: 'x' })).error?.message).toContain('at most 10')
  })
})
