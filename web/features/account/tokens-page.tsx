import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { formatAgo, localeTag, t } from '../../i18n.ts'
import { callRest } from '../../rest.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import styles from './account.module.css'
import { FreshToken } from './fresh-token.tsx'

const Token = z.object({
  id: z.number(),
  token: z.string(),
  description: z.string().nullable(),
  created_at: z.string(),
  expiry: z.string().nullable(),
})
const TokenList = z.object({ list: z.array(Token) })
type Token = z.infer<typeof Token>

const DAY_MS = 24 * 60 * 60 * 1000
const PATH = '/api/v1/tokens'
const KEY = ['rest', PATH]

/** Tokens by which programs act as oneself: make one, see it once, delete it. */
export function TokensPage() {
  const [description, setDescription] = useState('')
  const [days, setDays] = useState('')
  const queries = useQueryClient()
  const tokens = useQuery({
    queryKey: KEY,
    queryFn: async () => TokenList.parse(await callRest('GET', PATH)).list,
  })
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
      title: t('Delete token "{title}"?', { title: token.description || masked(token) }),
      text: t('Apps using this token lose access immediately. This can’t be undone.'),
      confirmLabel: t('Delete token'),
      danger: true,
    })
    if (!agreed) return
    try {
      await callRest('DELETE', `${PATH}/${token.id}`)
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
    await queries.invalidateQueries({ queryKey: KEY })
  }

  return (
    <div className={styles.form}>
      <p className={styles.note}>
        {t('Send a token in the xc-token header to use the API with your own permissions.')}
      </p>
      <form
        className={styles.create}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (description.trim() && !create.isPending) create.mutate()
        }}
      >
        <TextField
          label={t('Token name')}
          className={styles.grow}
          placeholder={t('e.g. Nightly backup')}
          maxLength={255}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          error={create.error && messageOf(create.error)}
        />
        <SelectField label={t('Expires')} value={days} onChange={(event) => setDays(event.target.value)}>
          <option value="">{t('Never')}</option>
          <option value="30">{t('In 30 days')}</option>
          <option value="90">{t('In 90 days')}</option>
          <option value="365">{t('In a year')}</option>
        </SelectField>
        <Button type="submit" variant="primary" busy={create.isPending} disabled={description.trim() === ''}>
          {t('Create token')}
        </Button>
      </form>
      {create.data && <FreshToken token={create.data.token} />}

      {tokens.error && !tokens.data ? (
        <ErrorState
          title={t('API tokens could not be loaded')}
          error={tokens.error}
          onRetry={() => void tokens.refetch()}
        />
      ) : tokens.data?.length === 0 ? (
        <EmptyState
          icon={KeyRound}
          title={t('No API tokens yet')}
          text={t('Enter a name above to create one.')}
        />
      ) : (
        <ul className={styles.tokens} aria-busy={tokens.isPending}>
          {tokens.data?.map((token) => (
            <li key={token.id} className={styles.token}>
              <span className={styles.tokenText}>
                <strong dir="auto">{token.description || t('Untitled')}</strong>
                <small>
                  <code>{masked(token)}</code> · {t('Created {when}', { when: formatAgo(token.created_at) })}
                  {token.expiry && <> · {expiryOf(token.expiry)}</>}
                </small>
              </span>
              <IconButton
                icon={Trash2}
                label={t('Delete token {title}', { title: token.description ?? masked(token) })}
                data-tip={t('Delete token')}
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
  if (Date.parse(expiry) <= Date.now()) return t('Expired')
  return t('Expires on {day}', { day: new Date(expiry).toLocaleDateString(localeTag()) })
}

/** Its last characters, by which its owner knows it again. */
const masked = (token: Token): string => `…${token.token.slice(-4)}`
