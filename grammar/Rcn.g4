// The grammar of .rcn model files.
//
// The parser does not read the lexer's tokens as they come: compiler/syntax/layout.cpp stands between the two. It drops
// newlines that do not end a statement, mends brackets, and lets every statement of a block end with exactly one SEP.
// So the rules below are LL(1) nearly everywhere, SLL prediction never falls back, and an error stays in its statement.
//
// What the grammar does not say (which statement may stand where, what may stand left of `=`, names of options) is
// checked by compiler/sema, whose messages can say more.
grammar Rcn;

program : item* EOF ;
block   : '{' item* '}' ;
item    : stmt SEP ;

stmt
  : importStmt | optionDecl | externDecl | dimDecl | paramDecl | flagDecl
  | fnDecl | moduleDecl | networkDecl | modeDecl
  | markStmt | stackStmt
  | ifStmt | forStmt | loopStmt | maskedStmt
  | returnStmt | assertStmt | simpleStmt
  ;

importStmt : 'import' source ('as' name)?
           | 'from' source 'import' alias (',' alias)* ;
source     : STRING | name ('.' name)* ;
alias      : name ('as' name)? ;

optionDecl : 'option' name ':' typeExpr '=' expr ;
externDecl : 'extern' name declOpts? ':' typeExpr ;
dimDecl    : 'dim' name ':' name ('=' expr)? ;
paramDecl  : 'param' name declOpts? ':' typeExpr '=' expr ;
flagDecl   : 'flag' name '=' expr ;
markStmt   : ('loss' | 'error' | 'output') name ('[' expr ']')? declOpts? ('=' expr)? ;
stackStmt  : 'stack' name '=' expr ;
declOpts   : '(' args ')' ;

fnDecl      : 'fn' name '(' params? ')' ('->' typeExpr (',' typeExpr)*)? block ;
moduleDecl  : 'module' name '(' params? ')' block ;
networkDecl : 'network' block ;
modeDecl    : 'mode' name block ;
params      : param (',' param)* ','? ;
param       : '*' | name (':' typeExpr)? ('=' expr)? ;

ifStmt     : 'if' expr block ('elif' expr block)* ('else' block)? ;
forStmt    : 'for' targets 'in' expr block ;
loopStmt   : 'loop' name 'over' expr ('max' expr)? ('with' binding (',' binding)*)? block ;
binding    : name (':' typeExpr)? '=' expr ;
maskedStmt : 'masked' expr block ;
returnStmt : 'return' exprs? ;
assertStmt : 'assert' expr (',' expr)? ;
simpleStmt : exprs ((':' typeExpr)? '=' exprs | augop expr)? ;
augop      : '+=' | '-=' | '*=' | '/=' ;
targets    : target (',' target)* ;
target     : name | '(' targets ')' ;
exprs      : expr (',' expr)* ;

typeExpr : typeBase '?'? ;
typeBase : name ('(' expr ')')? '[' dims? ']'
         | '[' dims? ']'
         | name ('.' name)* ;
dims     : dimItem (',' dimItem)* ','? ;
dimItem  : '...' | expr ;

// Loosest first. Chains are loops, so that their length costs no depth.
expr       : 'fn' '(' params? ')' '=>' expr
           | orTest ('if' orTest 'else' expr)? ;
orTest     : andTest ('or' andTest)* ;
andTest    : notTest ('and' notTest)* ;
notTest    : 'not' notTest | comparison ;
comparison : addExpr (compOp addExpr)* ;
compOp     : '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not' 'in' ;
addExpr    : mulExpr (('+' | '-') mulExpr)* ;
mulExpr    : unary (('*' | '/' | '//' | '%') unary)* ;
unary      : '-' unary | power ;
power      : postfix ('**' unary)? ;
postfix    : atom trailer* ;
trailer    : '(' args? ')' | '[' subscript ']' | '.' name ;
subscript  : expr | expr? ':' expr? (':' expr?)? ;
args       : arg (',' arg)* ','? ;
arg        : (name '=')? expr ;
atom
  : name | INT | FLOAT | STRING | 'true' | 'false' | 'none'
  | '(' (expr (',' expr)* ','?)? ')'
  | '[' (expr (compFor | (',' expr)* ','?))? ']'
  | '{' (field (',' field)* ','?)? '}'
  ;
compFor    : 'for' targets 'in' orTest ('if' orTest)? ;
field      : (name | STRING) ':' expr ;

// Words only where a name follows; elsewhere ordinary names.
name : NAME | 'dim' | 'option' | 'extern' | 'param' | 'flag' | 'mode'
     | 'loss' | 'error' | 'output' | 'stack' | 'over' | 'max' ;

// ---- tokens: compiler/syntax/token.h lists them in this order -------------------------------------------------------

AND     : 'and' ;
AS      : 'as' ;
ASSERT  : 'assert' ;
ELIF    : 'elif' ;
ELSE    : 'else' ;
FALSE   : 'false' ;
FN      : 'fn' ;
FOR     : 'for' ;
FROM    : 'from' ;
IF      : 'if' ;
IMPORT  : 'import' ;
IN      : 'in' ;
LOOP    : 'loop' ;
MASKED  : 'masked' ;
MODULE  : 'module' ;
NETWORK : 'network' ;
NONE    : 'none' ;
NOT     : 'not' ;
OR      : 'or' ;
RETURN  : 'return' ;
TRUE    : 'true' ;
WITH    : 'with' ;

DIM    : 'dim' ;
ERROR  : 'error' ;
EXTERN : 'extern' ;
FLAG   : 'flag' ;
LOSS   : 'loss' ;
MAX    : 'max' ;
MODE   : 'mode' ;
OPTION : 'option' ;
OUTPUT : 'output' ;
OVER   : 'over' ;
PARAM  : 'param' ;
STACK  : 'stack' ;

LPAREN    : '(' ;
RPAREN    : ')' ;
LBRACKET  : '[' ;
RBRACKET  : ']' ;
LBRACE    : '{' ;
RBRACE    : '}' ;
COMMA     : ',' ;
COLON     : ':' ;
DOT       : '.' ;
ELLIPSIS  : '...' ;
QUESTION  : '?' ;
ASSIGN    : '=' ;
ARROW     : '=>' ;
RESULT    : '->' ;
PLUS_EQ   : '+=' ;
MINUS_EQ  : '-=' ;
STAR_EQ   : '*=' ;
SLASH_EQ  : '/=' ;
PLUS      : '+' ;
MINUS     : '-' ;
STAR      : '*' ;
POWER     : '**' ;
SLASH     : '/' ;
FLOORDIV  : '//' ;
PERCENT   : '%' ;
EQ        : '==' ;
NE        : '!=' ;
LE        : '<=' ;
LT        : '<' ;
GE        : '>=' ;
GT        : '>' ;

INT    : [0-9] [0-9_]* | '0x' [0-9a-fA-F]+ ;
FLOAT  : [0-9] [0-9_]* '.' [0-9] [0-9_]* EXP? | [0-9] [0-9_]* EXP ;
fragment EXP : [eE] [+-]? [0-9]+ ;
NAME   : [A-Za-z_] [A-Za-z0-9_]* ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
SEP    : '\r'? '\n' | ';' ;

// The scanner keeps these from the parser.
DOC     : '##' (~[#\r\n] ~[\r\n]*)? ;
COMMENT : '#' ~[\r\n]* ;
WS      : [ \t]+ ;

// What is no token, as wide as a reader would see it, so that the message can name it whole. The lexer reads bytes:
// \u0080-\u00FF are those of characters beyond ASCII.
BAD_NUMBER    : [0-9] [0-9_]* ('.' [0-9] [0-9_]*)? EXP? [A-Za-z] [A-Za-z0-9_]* ;
BAD_NAME      : [A-Za-z_\u0080-\u00FF] [A-Za-z0-9_\u0080-\u00FF]* ;
OPEN_STRING   : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? ;
SINGLE_QUOTED : '\'' (~['\\\r\n] | '\\' ~[\r\n])* '\'' ;
BAD           : '&&' | '||' | . ;
