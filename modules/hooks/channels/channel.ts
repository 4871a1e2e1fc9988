import type { z } from 'zod'
import type { TemplateKind } from '../../../src/core/templates/template.ts'
import type { HttpMethod, HttpReply } from '../../../src/http.ts'
import type { PluginsService } from '../../plugins/index.ts'

/** An HTTP request, sent through `src/http.ts`. A status of 2xx means that it was delivered, unless `problemOf` says otherwise. */
export interface HttpDelivery {
  kind: 'http'
  method: HttpMethod
  url: string
  headers: [name: string, value: string][]
  body: string | null
  /** Texts that the log must not show, besides those of the settings. */
  secrets?: string[]
  /** Why the receiver has not accepted the request, in its own words; null if it has. */
  problemOf?(reply: Pick<HttpReply, 'status' | 'statusText' | 'body'>): string | null
}

/** A mail, sent by the mail server of the installation. */
export interface MailDelivery {
  kind: 'mail'
  recipients: string[]
  subject: string
  /** Plain text. */
  body: string
}

export type Outgoing = HttpDelivery | MailDelivery

/** A template among the settings of a channel. */
export interface PayloadTemplate {
  /** For error messages, e.g. `headers.0.value`. */
  path: string
  text: string
  kind: TemplateKind
}

/** Renders a template of the settings with the event. Its text and kind must be among those of `templates`. */
export type Render = (text: string, kind: TemplateKind) => string

/** What channels use besides their settings. */
export interface ChannelServices {
  /** The chat services that super admins have configured. */
  chat: PluginsService['chat']
}

/** A way to deliver events, such as a call of a URL or a message to a chat. */
export interface Channel<Payload extends object = object> {
  /** Its name in the API (wire §11), e.g. `URL`. */
  type: string
  /** Its settings, with limits for each text. Unknown settings are dropped. */
  payload: z.ZodType<Payload>
  /** Every template in the settings. */
  templates(payload: Payload): PayloadTemplate[]
  /** Checks what the schema cannot. @throws BAD_REQUEST */
  check?(payload: Payload): void
  /** Texts in the settings that the log must not show, such as the value of an `Authorization` header. */
  secrets(payload: Payload): string[]
  /** Whether its HTTP requests are signed with the secret of the webhook. */
  isSigned: boolean
  /**
   * The settings for each of several receivers, by a key that identifies the receiver in later tries. Absent: there is
   * one.
   */
  receivers?(payload: Payload): { key: string; payload: Payload }[]
  /** @throws BAD_REQUEST if a service that it needs is not configured; RenderError */
  compose(payload: Payload, render: Render, services: ChannelServices): Outgoing
}

/**
 * Types the members of a channel by its settings. Callers see settings of any channel: they pass `payload` before they
 * reach another member.
 */
export const defineChannel = <Payload extends object>(channel: Channel<Payload>): Channel =>
  channel as Channel
