import type { HookDelivery, ReceivedResponse, SentRequest } from '../../../src/core/hooks.ts'
import { m } from '../../messages.gen.ts'
import styles from './hooks.module.css'

interface ExchangeProps {
  request: SentRequest | null
  response: ReceivedResponse | null
  error: HookDelivery['error']
}

/** The request of a delivery and its response, or why there is none. */
export function Exchange({ request, response, error }: ExchangeProps) {
  return (
    <div className={styles.exchange}>
      {error && <p className={styles.error}>{error.message}</p>}
      {request && (
        <Message
          title={m.hooks_request()}
          start={`${request.method} ${request.url}`}
          headers={request.headers}
          body={request.body ?? ''}
        />
      )}
      {response && (
        <Message
          title={m.hooks_response()}
          start={`${response.status} ${response.statusText}`}
          headers={response.headers}
          body={response.body}
        />
      )}
    </div>
  )
}

interface MessageProps {
  title: string
  /** Its first line. */
  start: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
}

function Message({ title, start, headers, body }: MessageProps) {
  return (
    <section className={styles.message}>
      <h4>{title}</h4>
      <p className={styles.start} dir="ltr">
        {start}
      </p>
      {headers.length > 0 && (
        <details>
          <summary>{m.hooks_headers_count({ count: headers.length })}</summary>
          <pre dir="ltr">{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
        </details>
      )}
      <pre dir="ltr" className={styles.body}>
        {body === '' ? m.hooks_empty_body() : prettyJson(body)}
      </pre>
    </section>
  )
}

/** Indents JSON; other texts, and JSON that was cut, stay as they are. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}
