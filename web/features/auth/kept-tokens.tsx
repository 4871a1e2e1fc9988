import { t } from '../../i18n.ts'
import { Switch } from '../../ui/switch.tsx'

/** An API token as lists show it: `token` is masked but for its end. */
export interface KeptToken {
  description: string | null
  token: string
}

const MAX_NAMED = 5

interface Props {
  tokens: readonly KeptToken[]
  revokes: boolean
  onChange(revokes: boolean): void
}

/** Names the API tokens that a new password leaves active, and offers to revoke them with it. Nothing where there are none. */
export function KeptTokens({ tokens, revokes, onChange }: Props) {
  if (tokens.length === 0) return null
  const names = tokens
    .slice(0, MAX_NAMED)
    .map(({ description, token }) => description || `…${token.slice(-4)}`)
  const rest = tokens.length - names.length
  const list = rest > 0 ? t('{names} and {n} more', { names: names.join(', '), n: rest }) : names.join(', ')
  return (
    <Switch
      label={t('Revoke my API tokens')}
      hint={t('Otherwise these tokens stay active: {list}', { list })}
      checked={revokes}
      onChange={onChange}
    />
  )
}
