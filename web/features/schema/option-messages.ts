import { en } from 'zod/locales'
import { config } from 'zod/mini'

// `zod/mini` brings no texts. The field editor shows those of invalid options (`problemOf`); nothing else does.
config(en())
