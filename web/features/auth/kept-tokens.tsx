import { m } from '../../messages.gen.ts'
import { Switch } from '../../ui/switch.tsx'

/** An API token as lists show it: `token` is masked except for its last characters. */
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

/** Lists the API tokens that survive a password change and offers to revoke them; empty without tokens. */
export function KeptTokens({ tokens, revokes, onChange }: Props) {
  if (tokens.length === 0) return null
  const names = tokens
    .slice(0, MAX_NAMED)
    .map(({ description, token }) => description || `…${token.slice(-4)}`)
  const rest = tokens.length - names.length
  const list = rest > 0 ? m.auth_names_and_more({ names: names.join(', '), count: rest }) : names.join(', ')
  return (
    <Switch
      label={m.auth_revoke_my_api_tokens()}
      hint={m.auth_otherwise_these_tokens_stay_active({ list })}
      checked={revokes}
      onChange={onChange}
    />
  )
}
