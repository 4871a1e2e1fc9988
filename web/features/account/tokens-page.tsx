import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Copy, KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import * as z from 'zod/mini'
import { messageOf } from '../../errors.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { callRest } from '../../rest.ts'
import { Alert } from '../../ui/alert.tsx'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './account.module.css'

const Token = z.object({
  id: z.number(),
  token: z.string(),
  description: z.nullable(z.string()),
  created_at: z.string(),
  expiry: z.nullable(z.string()),
})
const TokenList = z.object({ list: z.array(Token) })
type Token = z.infer<typeof Token>

const DAY_MS = 24 * 60 * 60 * 1000
const PATH = '/api/v1/tokens'
const KEY = ['rest', PATH]

/** The user's API tokens, masked. */
export const useApiTokens = () =>
  useQuery({
    queryKey: KEY,
    queryFn: async () => TokenList.parse(await callRest('GET', PATH)).list,
  })

/** API tokens of the user: create, show once, delete. */
export function TokensPage() {
  const [description, setDescription] = useState('')
  const [days, setDays] = useState('')
  const queries = useQueryClient()
  const tokens = useApiTokens()
  const create = useMutation({
    mutationFn: async () => {
      const expiry = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      return Token.parse(await callRest('POST', PATH, { description: description.trim(), expiry }))
    },
    onSuccess() {
      setDescription('')
      void queries.invalidateQueries({ queryKey: KEY })
    },
  })

  async function remove(token: Token) {
    const agreed = await confirm({
      title: m.account_delete_token_confirm({ title: token.description || masked(token) }),
      text: m.account_delete_token_consequences(),
      confirmLabel: m.account_delete_token(),
      danger: true,
    })
    if (!agreed) return
    await attempt(() => callRest('DELETE', `${PATH}/${token.id}`))
    await queries.invalidateQueries({ queryKey: KEY })
  }

  return (
    <div className={styles.form}>
      <p className={styles.note}>{m.account_tokens_hint()}</p>
      <form
        className={styles.create}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (description.trim() && !create.isPending) create.mutate()
        }}
      >
        <TextField
          label={m.account_token_name()}
          className={styles.grow}
          placeholder={m.account_e_g_nightly_backup()}
          maxLength={255}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          error={create.error && messageOf(create.error)}
        />
        <SelectField
          label={m.account_expires()}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        >
          <option value="">{m.account_never()}</option>
          <option value="30">{m.account_in_30_days()}</option>
          <option value="90">{m.account_in_90_days()}</option>
          <option value="365">{m.account_in_a_year()}</option>
        </SelectField>
        <Button type="submit" variant="primary" busy={create.isPending} disabled={description.trim() === ''}>
          {m.account_create_token()}
        </Button>
      </form>
      {create.data && <FreshToken token={create.data.token} />}

      {tokens.error && !tokens.data ? (
        <QueryError title={m.account_api_tokens_load_failed()} query={tokens} />
      ) : tokens.data?.length === 0 ? (
        <EmptyState
          icon={KeyRound}
          title={m.account_no_api_tokens_yet()}
          text={m.account_enter_name_above_create_one()}
        />
      ) : (
        <ul className={styles.tokens} aria-busy={tokens.isPending}>
          {tokens.data?.map((token) => (
            <li key={token.id} className={styles.token}>
              <span className={styles.tokenText}>
                <strong dir="auto">{token.description || m.common_untitled()}</strong>
                <small>
                  <code>{masked(token)}</code> ·{' '}
                  {m.account_created_when({ when: formatAgo(token.created_at) })}
                  {token.expiry && <> · {expiryOf(token.expiry)}</>}
                </small>
              </span>
              <IconButton
                icon={Trash2}
                label={m.account_delete_token_title({ title: token.description ?? masked(token) })}
                data-tip={m.account_delete_token()}
                onClick={() => void remove(token)}
              />
            </li>
          )) ?? [1, 2].map((n) => <Skeleton key={n} height={44} />)}
        </ul>
      )}
    </div>
  )
}

function expiryOf(expiry: string): string {
  if (Date.parse(expiry) <= Date.now()) return m.account_expired()
  return m.account_expires_on_day({ day: new Date(expiry).toLocaleDateString(localeTag()) })
}

/** Ellipsis and the last four characters, for the owner to recognize. */
const masked = (token: Token): string => `…${token.token.slice(-4)}`

/** A new token or invitation link with a copy button; it is shown only this once. */
export function FreshToken({ token, note }: { token: string; note?: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <Alert>
      <p>{note ?? m.account_copy_token_hint()}</p>
      <div className={styles.fresh}>
        <code>{token}</code>
        <Button
          size="small"
          icon={copied ? Check : Copy}
          onClick={async () => setCopied(await copyText(token))}
        >
          {copied ? m.common_copied() : m.common_copy()}
        </Button>
      </div>
    </Alert>
  )
}
