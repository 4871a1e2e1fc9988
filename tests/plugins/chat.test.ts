import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { SECRET_MASK } from '../../src/core/plugins/index.ts'
import { refusalOf } from '../records/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'

let services: OutboundRecorder
let app: TestApp
let admin: TestUser

beforeAll(async () => {
  services = startOutboundRecorder()
  app = await createTestApp({
    config: { allowLocalHttp: true, telegramApiUrl: services.url, twilioApiUrl: services.url },
  })
  admin = await app.signUp()
})
afterAll(async () => {
  await app.stop()
  await services.stop()
})
beforeEach(() => services.clear())

const plugins = () => app.trpc(admin.token).plugins
const TEXT = 'Test message from Sheaf: webhooks can post here.'
const channel = (name = 'team') => ({ channel: name, webhook_url: `${services.url}/hooks/${name}` })
const problemOf = async (id: string, config: unknown, to?: string) =>
  (await plugins().test.mutate({ id, config: config as never, to })).problem

/** The request that a service got for a message of a hook. */
async function posted(id: Parameters<typeof app.services.plugins.chat.request>[0], text: string) {
  const { url, headers, body } = app.services.plugins.chat.request(
    id,
    { channel: 'team', to: '+15550123' },
    text,
  )
  await fetch(url, { method: 'POST', headers: headers.map(([name, value]) => [name, value]), body })
  const request = services.requests.at(-1)
  if (!request) throw new Error('Nothing was posted')
  return request
}

const bodyOf = ({ body }: { body: string }) => JSON.parse(body)

describe('trpc.plugins.test of a chat service', () => {
  test('posts to each channel of Slack as its documentation says', async () => {
    services.answer('*', { body: 'ok' })
    expect(await problemOf('slack', [channel('a'), channel('b')])).toBeNull()
    expect(services.requests.map(({ method, path }) => [method, path])).toEqual([
      ['POST', '/hooks/a'],
      ['POST', '/hooks/b'],
    ])
    const [request] = services.requests
    expect(request?.headers['content-type']).toStartWith('application/json')
    expect(JSON.parse(request?.body ?? '')).toEqual({ text: TEXT })
  })

  test('tells why Slack refuses, and in which channel', async () => {
    services.answer('/hooks/b', { status: 403, body: 'invalid_token' })
    expect(await problemOf('slack', [channel('a'), channel('b')])).toBe(
      'b: Slack doesn’t know this webhook URL, or it was removed (invalid_token)',
    )
    services.answer('/hooks/b', { status: 500, body: 'rollup_error' })
    expect(await problemOf('slack', [channel('b')])).toBe('b: rollup_error')
    services.answer('/hooks/b', { status: 502 })
    expect(await problemOf('slack', [channel('b')])).toBe('b: 502 Bad Gateway')
  })

  test('posts a card to Microsoft Teams, and finds its failures behind the status 200', async () => {
    services.answer('*', { status: 202 })
    expect(await problemOf('ms-teams', [channel()])).toBeNull()
    const [request] = services.requests
    const { type, attachments } = JSON.parse(request?.body ?? '')
    expect(type).toBe('message')
    expect(attachments).toHaveLength(1)
    expect(attachments[0]).toMatchObject({
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        type: 'AdaptiveCard',
        body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: TEXT }] }],
      },
    })
    const refusal =
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429'
    services.answer('*', { status: 200, body: refusal })
    expect(await problemOf('ms-teams', [channel()])).toBe(`team: ${refusal}`)
  })

  test('posts to Discord without mentions', async () => {
    services.answer('*', { status: 204 })
    expect(await problemOf('discord', [channel()])).toBeNull()
    expect(services.requests.map(bodyOf)).toEqual([{ content: TEXT, allowed_mentions: { parse: [] } }])
    services.answer('*', { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } })
    expect(await problemOf('discord', [channel()])).toBe('team: Unknown Webhook')
  })

  test('posts to Mattermost', async () => {
    services.answer('*', { body: 'ok' })
    expect(await problemOf('mattermost', [channel()])).toBeNull()
    expect(services.requests.map(bodyOf)).toEqual([{ text: TEXT }])
    const body = {
      id: 'web.incoming_webhook.invalid.app_error',
      message: 'Invalid webhook',
      status_code: 400,
    }
    services.answer('*', { status: 400, body })
    expect(await problemOf('mattermost', [channel()])).toBe('team: Invalid webhook')
  })

  test('sends messages of a Telegram bot, whose refusals may have any status', async () => {
    const bot = { channel: 'team', token: '123456:ABC-def', chat_id: '-100123' }
    services.answer('*', { body: { ok: true, result: { message_id: 1 } } })
    expect(await problemOf('telegram', [bot])).toBeNull()
    const [request] = services.requests
    expect([request?.method, request?.path]).toEqual(['POST', '/bot123456:ABC-def/sendMessage'])
    expect(JSON.parse(request?.body ?? '')).toEqual({
      chat_id: '-100123',
      text: TEXT,
      link_preview_options: { is_disabled: true },
    })
    const refusal = { ok: false, error_code: 400, description: 'Bad Request: chat not found' }
    for (const status of [400, 200]) {
      services.answer('*', { status, body: refusal })
      expect(await problemOf('telegram', [bot])).toBe('team: Bad Request: chat not found')
    }
  })

  test('sends text and WhatsApp messages through Twilio, only to phone numbers', async () => {
    const account = { sid: 'AC123', token: 'hush', from: '+15550100' }
    services.answer('*', { status: 201, body: { sid: 'SM1' } })
    for (const number of ['', 'ann', '5550123', '+1555012345678901234']) {
      expect(await problemOf('twilio', account, number)).toContain('is not a phone number')
    }
    expect(services.requests).toHaveLength(0)
    expect(await problemOf('twilio', account, '+1 (555) 01-23')).toBeNull()
    expect(await problemOf('twilio-whatsapp', account, '+15550123')).toBeNull()
    const [sms, whatsapp] = services.requests
    expect([sms?.method, sms?.path]).toEqual(['POST', '/2010-04-01/Accounts/AC123/Messages.json'])
    expect(sms?.headers).toMatchObject({
      authorization: `Basic ${btoa('AC123:hush')}`,
      'content-type': 'application/x-www-form-urlencoded',
    })
    const sent = (body = '') => Object.fromEntries(new URLSearchParams(body))
    expect(sent(sms?.body)).toEqual({ To: '+15550123', From: '+15550100', Body: TEXT })
    expect(sent(whatsapp?.body)).toMatchObject({ To: 'whatsapp:+15550123', From: 'whatsapp:+15550100' })
    services.answer('*', {
      status: 400,
      body: { code: 21_211, message: "Invalid 'To' Phone Number", status: 400 },
    })
    expect(await problemOf('twilio', account, '+15550123')).toBe("Invalid 'To' Phone Number")
  })

  test('reaches no private address unless the server allows it', async () => {
    const strict = await createTestApp({ database: 'sqlite' })
    const owner = await strict.signUp()
    const { problem } = await strict
      .trpc(owner.token)
      .plugins.test.mutate({ id: 'slack', config: [channel()] })
    expect(problem).toContain('private network address')
    expect(services.requests).toHaveLength(0)
    await strict.stop()
  })
})

describe('trpc.plugins.save of a chat service', () => {
  test('names the channel and the input that is wrong', async () => {
    const config = [
      channel(),
      { channel: 'b', webhook_url: 'javascript:alert(1)' },
      { ...channel(), webhook_url: '' },
    ]
    const error = await plugins()
      .save.mutate({ id: 'slack', config })
      .catch((caught) => caught)
    const places = error.data.details.problems.map(({ key, index }: { key: string; index: number }) => [
      key,
      index,
    ])
    expect(places).toEqual([
      ['webhook_url', 1],
      ['webhook_url', 2],
      ['channel', 2],
    ])
    for (const bad of [[], {}, 'x', Array.from({ length: 101 }, (_, at) => channel(`c${at}`))]) {
      expect((await refusalOf(plugins().save.mutate({ id: 'slack', config: bad }))).status).toBe(400)
    }
  })

  test('posts nothing, and keeps masked webhook URLs by the name of their channel', async () => {
    await plugins().save.mutate({ id: 'slack', config: [channel('a'), channel('b')] })
    expect(services.requests).toHaveLength(0)
    const { config } = await plugins().save.mutate({
      id: 'slack',
      config: [
        { channel: 'b', webhook_url: SECRET_MASK },
        { channel: 'team', webhook_url: channel().webhook_url },
      ],
    })
    expect(config).toEqual([
      { channel: 'b', webhook_url: SECRET_MASK },
      { channel: 'team', webhook_url: SECRET_MASK },
    ])
    const { chat } = app.services.plugins
    expect(chat.request('slack', { channel: 'b' }, 'x').url).toBe(channel('b').webhook_url)
    expect(() => chat.request('slack', { channel: 'a' }, 'x')).toThrow('Slack has no channel named “a”')
  })
})

describe('trpc.plugins.channels', () => {
  test('tells creators of a base the names of the channels, and no secret', async () => {
    await plugins().save.mutate({ id: 'slack', config: [channel()] })
    await plugins().save.mutate({ id: 'twilio', config: { sid: 'AC1', token: 'hush', from: '+15550100' } })
    const base = await createBase(app, admin)
    const other = await app.signUp()
    const ask = () => app.trpc(other.token).plugins.channels.query({ baseId: base.id })
    await app.services.auth.access.setMembership(base.id, other.id, 'editor')
    expect((await refusalOf(ask())).status).toBe(403)
    await app.services.auth.access.setMembership(base.id, other.id, 'creator')
    expect(await ask()).toEqual([
      { type: 'Slack', title: 'Slack', channels: ['team'] },
      { type: 'Twilio', title: 'Twilio SMS', channels: null },
    ])
  })
})

describe('a message with the text of records', () => {
  beforeAll(async () => {
    const bot = { channel: 'team', token: '1:A', chat_id: '5' }
    for (const id of ['slack', 'discord', 'mattermost', 'ms-teams']) {
      await plugins().save.mutate({ id, config: [channel()] })
    }
    await plugins().save.mutate({ id: 'telegram', config: [bot] })
    await plugins().save.mutate({ id: 'twilio', config: { sid: 'AC1', token: 'hush', from: '+15550100' } })
  })

  test('mentions nobody', async () => {
    const text = 'Ship & <!channel> <@U1> @everyone @here @channel *now*'
    expect(bodyOf(await posted('slack', text))).toEqual({
      text: 'Ship &amp; &lt;!channel&gt; &lt;@U1&gt; @everyone @here @channel *now*',
    })
    expect(bodyOf(await posted('discord', text))).toEqual({ content: text, allowed_mentions: { parse: [] } })
    const { text: written } = bodyOf(await posted('mattermost', text))
    expect(written).not.toMatch(/@(here|channel|all)|<!/)
    expect(written.replaceAll('\u200b', '')).toBe(text)
    expect(bodyOf(await posted('telegram', text))).not.toHaveProperty('parse_mode')
  })

  test('is shortened to what each service takes, between characters', async () => {
    const long = `${'a&'.repeat(25_000)}`
    const slack = bodyOf(await posted('slack', long)).text
    expect(slack.length).toBeLessThanOrEqual(40_000)
    expect(slack.slice(-6)).toMatch(/^(&amp;…|amp;a…)$/)
    expect(bodyOf(await posted('discord', '👍'.repeat(2_000))).content).toBe(`${'👍'.repeat(999)}…`)
    expect(bodyOf(await posted('mattermost', long)).text).toHaveLength(16_383)
    expect(bodyOf(await posted('telegram', long)).text).toHaveLength(4_096)
    for (const text of ['\u0001'.repeat(10_000), 'a\n'.repeat(5_000), '\u0001\n'.repeat(5_000)]) {
      expect(Buffer.byteLength((await posted('ms-teams', text)).body)).toBeLessThan(28 * 1024)
    }
    const card = bodyOf(await posted('ms-teams', 'one\n\ntwo')).attachments[0].content
    expect(card.body.map(({ inlines }: { inlines: { text: string }[] }) => inlines[0]?.text)).toEqual([
      'one',
      ' ',
      'two',
    ])
    const sms = new URLSearchParams((await posted('twilio', long)).body)
    expect(sms.get('Body')).toHaveLength(1_600)
    expect(bodyOf(await posted('discord', 'short')).content).toBe('short')
    expect(() => app.services.plugins.chat.request('slack', { channel: 'team' }, ' \n')).toThrow(
      'message is empty',
    )
  })
})
