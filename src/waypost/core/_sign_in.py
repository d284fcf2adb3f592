"""
Rows about sign-ins. They are read first, and in messages even when the code says something else.

An application's words for a failed sign-in are few; the words *token*, *login* and *expired* alone
are not among them: a page token, a parser's token, a ``login`` argument, a card and a certificate
have nothing to do with it.
"""

from __future__ import annotations

from ._model import ErrorClass as C, NextStep, Outcome, Rule
from ._row import rule

NOT_DONE = Outcome.NOT_DONE
ELSEWHERE = "auth.required_elsewhere"

_OTHER_TOKENS = (
    "next token",
    "page token",
    "pagination token",
    "continuation token",
    "sync token",
    "change token",
    "resume token",
    "device token",
    "registration token",
    "unexpected token",
    "csrf token",
    "invalid token in",
    "invalid token at",
)

# Patterns one a line would make the table too long to read in one sitting.
# fmt: off
LOOKALIKES: tuple[Rule, ...] = (
    rule("page_token.refused", error_class=C.INVALID, outcome=NOT_DONE,
         why="Above sign-ins: a page token that expired has nothing to do with credentials.",
         action="Do not repeat this call unchanged. Start again from the first page, without the "
                "page token.",
         any_of=("next token", "page token", "pagination token", "continuation token"),
         not_with=("unexpected next token",)),
    rule("payment.refused", error_class=C.REJECTED, outcome=NOT_DONE,
         why="Above sign-ins: a card that expired, or a bank or a person that said no.",
         any_of=("expired card", "card expired", "declined", "decline", "fraud*", "lost card",
                 "stolen card", "insufficient funds", "refused payment", "do not honor"),
         not_with=("rate limit",)),
)

SIGN_IN_RULES: tuple[Rule, ...] = (
    rule("auth.expired", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         why="A session or token that ran out: the same call works after a new sign-in.",
         any_of=("token expired", "expired token", "token has expired", "token is expired",
                 "token revoked", "revoked token", "token has been revoked", "token was revoked",
                 "token was refused", "token was rejected", "token no longer valid",
                 "token is no longer valid", "tokens are no longer valid",
                 "token has been expired", "expired or revoked", "expired access token",
                 "expired id token", "jwt expired", "session expired", "expired session",
                 "session has expired", "session is expired", "session revoked",
                 "session has ended", "session is no longer valid", "credentials expired",
                 "expired credentials", "credentials have expired", "credentials are expired",
                 "credential is no longer valid", "auth expired", "authentication expired",
                 "authorization expired", "authentication has expired", "login expired",
                 "login has expired", "ticket expired", "included in the request is expired",
                 "invalid grant", "expired auth*", "expired login",
                 "expired api token"),
         not_with=_OTHER_TOKENS),
    rule("auth.refused", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         retryable=False,
         why="A credential that was refused stays refused: signing in takes another one.",
         any_of=("invalid credential*", "bad credential*", "incorrect credential*",
                 "wrong credential*", "credentials are not valid", "credentials are invalid",
                 "credentials invalid", "wrong password", "incorrect password",
                 "invalid password", "bad password", "bad user name", "incorrect username",
                 "invalid username", "wrong username", "user name or password",
                 "username or password", "using password", "password expired", "invalid api key",
                 "incorrect api key", "bad api key", "api key is invalid", "api key not valid",
                 "api key is not valid", "apikey invalid", "api key invalid",
                 "invalid client", "login denied", "invalid api token",
                 "invalid access key", "unrecognized client",
                 "signature does not match", "signature we calculated",
                 "incorrect authentication credentials"),
         not_with=("invalid client metadata", "invalid client argument", "must be", "at least")),
    rule("auth.token_refused", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         retryable=False, step=NextStep.SIGN_IN, in_message=False,
         why="As a code, owners write this for a token that never was one; in prose for any other.",
         any_of=("invalid access token", "access token invalid", "invalid jwt", "jwt invalid",
                 "invalid api token", "api token invalid", "invalid signature",
                 "signature invalid", "incomplete signature", "invalid auth",
                 "invalid authentication", "invalid authorization", "missing api key",
                 "no api key", "api key missing", "api key required"),
         not_with=("authentication token",)),
    rule("auth.required", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         why="Nobody is signed in, or the token is not accepted: sign in, then the call works.",
         any_of=("login required", "sign in required", "signin required", "not logged in",
                 "not signed in", "not authed", "not authenticated", "unauthenticated",
                 "authentication required", "authentication is required",
                 "authentication needed", "requires authentication", "authorization required",
                 "interaction required", "requires recent login", "log in again", "login again",
                 "sign in again", "re authenticate", "reauthenticate", "authenticate again",
                 "re authorize", "reauthorize", "reauthentication", "reauth", "please log in",
                 "please login", "please sign in", "must log in", "must sign in",
                 "must be logged in", "need to log in", "must be signed in", "need to sign in",
                 "you are not logged", "must authenticate", "must authorize", "run login",
                 "az login", "auth login", "sso login", "failed to retrieve a token",
                 "failed to get token", "failed to acquire token", "no credentials",
                 "missing credentials", "credentials not found", "unable to locate credentials",
                 "credentials could not be found", "could not load credentials",
                 "missing access token", "no access token", "access token required",
                 "valid access token", "token is missing", "missing bearer",
                 "bearer token required", "no bearer token", "no api key", "missing api key",
                 "api key is missing", "api key required", "api key is required",
                 "api key is not given", "api key not set", "api key not found",
                 "api key is not set", "missing authentication", "missing authorization",
                 "no authorization header", "authorization header missing",
                 "authorization header is missing", "authorization header required",
                 "lacks valid authentication", "invalid authentication", "invalid authorization",
                 "invalid auth", "invalid bearer token", "invalid id token",
                 "invalid security token", "invalid session token", "invalid session id",
                 "session token not found", "invalid refresh token", "invalid access token",
                 "token retrieval", "partial credentials", "invalid token", "token invalid",
                 "token is invalid", "token is not valid", "authorization error you may need",
                 "insufficient user authentication"),
         not_with=(*_OTHER_TOKENS, "authorization message", "syntax")),
    rule("auth.failed", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         retryable=False, step=NextStep.SIGN_IN,
         why="Below all that asks to sign in: credentials that were checked and refused.",
         any_of=("authentication failed", "authentication failure", "failed to authenticate",
                 "unable to authenticate", "could not authenticate", "login failed",
                 "log in failed", "sign in failed", "auth failed", "failed authentication",
                 "check your credentials", "verify your credentials"),
         not_with=("authorization message", "payment method")),
    rule("auth.failed_name", error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         retryable=False, step=NextStep.SIGN_IN, in_message=False,
         why="The same in few words, safe in names only: prose has errors of every kind.",
         any_of=("authentication error", "auth error", "login error", "logon error")),
    rule(ELSEWHERE, error_class=C.UNAUTHENTICATED, outcome=NOT_DONE,
         why="The same said in German, French, Spanish, Portuguese, Italian and Dutch.",
         any_of=("melden sie sich", "nicht angemeldet", "anmeldung fehlgeschlagen",
                 "anmeldung erforderlich", "sitzung ist abgelaufen", "sitzung abgelaufen",
                 "token ist abgelaufen", "veuillez vous connecter", "veuillez vous reconnecter",
                 "session a expire", "session expiree", "jeton expire", "non authentifie",
                 "authentification requise", "inicie sesion", "iniciar sesion",
                 "sesion ha expirado", "sesion ha caducado", "sesion expirada",
                 "token ha expirado", "no autenticado", "autenticacion requerida",
                 "sessao expirou", "sessao expirada", "faca login", "token expirado",
                 "falha na autenticacao", "nao autenticado", "sessione scaduta",
                 "sessione e scaduta", "token scaduto", "effettua il login", "accedi di nuovo",
                 "non autenticato", "sessie is verlopen", "log opnieuw in", "opnieuw inloggen",
                 "niet ingelogd")),
)

# Scripts without spaces between words, or without a to z: looked for as they stand, and only in
# messages that are not ASCII.
SIGN_IN_PHRASES = (
    "未登录", "无登录", "请登录", "请先登录", "重新登录", "登录已过期", "登录过期", "登录失效",
    "登录失败", "会话已过期", "令牌已过期", "token已过期", "认证失败", "身份验证失败",
    "未登入", "請登入", "登入已過期", "ログインしてください", "ログインが必要", "再ログイン",
    "セッションの有効期限", "トークンの有効期限", "認証に失敗", "認証が必要", "로그인이 필요",
    "로그인해", "다시 로그인", "세션이 만료", "토큰이 만료", "인증에 실패", "인증이 필요",
    "сессия истекла", "срок действия сессии", "токен истек", "войдите", "необходимо войти",
    "требуется авторизация", "требуется аутентификация", "sesja wygasła", "zaloguj się",
    "oturum süresi", "giriş yap",
)
# fmt: on
